package coll

// BlocksOf is for tests of package coll_test.
var BlocksOf = blocksOf
