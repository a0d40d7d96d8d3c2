/* random.c - numbers that all ranks draw alike: splitmix64. */
#include "survive.h"

uint64_t draw(Random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

Random seeded(uint64_t a, uint64_t b, uint64_t c)
{
    Random r = {a};
    r.state = draw(&r) ^ b;
    r.state = draw(&r) ^ c;
    return r;
}

int below(Random *r, int n) { return (int)(draw(r) % (uint64_t)n); }
