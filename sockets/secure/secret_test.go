package secure

import "testing"

func TestAProofIsOfOneSideOneExchangeAndOneSecret(t *testing.T) {
	x := Exchange{Server: NewNonce(), Client: NewNonce(), Mask: 3, Channel: []byte("keys")}
	p := x.Prove("secret", ClientSide)
	if !x.Proven("secret", ClientSide, p) {
		t.Error("refused")
	}
	others := []Exchange{x, x, x, x}
	others[0].Server = NewNonce()
	others[1].Client = NewNonce()
	others[2].Mask = 2
	others[3].Channel = nil
	for i, o := range others {
		if o.Proven("secret", ClientSide, p) {
			t.Errorf("accepted in another exchange (%d)", i)
		}
	}
	if x.Proven("secret", ServerSide, p) || x.Proven("secre", ClientSide, p) {
		t.Error("accepted of another side, or secret")
	}
}
