/* Categories: each variable and event is in one, and they form a tree. */
/* ranks: 1 2 */
#include "tool.h"

enum { MOST = 512 };

static int depth(int category, int within)
{
    int indices[MOST], n = 0, deepest = 0;
    CHECK(within < 10);
    OK(MPI_T_category_get_info(category, NULL, NULL, NULL, NULL, NULL, NULL, &n));
    CHECK(n <= MOST);
    OK(MPI_T_category_get_categories(category, MOST, indices));
    for (int i = 0; i < n; i++) {
        int below = depth(indices[i], within + 1);
        if (below > deepest) deepest = below;
    }
    return deepest + 1;
}

int main(int argc, char **argv)
{
    int num = -1, cvars, pvars, events, seen_cvars = 0, seen_pvars = 0, seen_events = 0, root, changed = -1, again = -2;
    static int indices[MOST];
    tool_start();
    OK(MPI_T_category_changed(&changed));
    check_start(&argc, &argv);
    OK(MPI_T_category_changed(&again));
    CHECK_EQ(changed, again);
    OK(MPI_T_category_get_num(&num));
    OK(MPI_T_cvar_get_num(&cvars));
    OK(MPI_T_pvar_get_num(&pvars));
    OK(MPI_T_event_get_num(&events));
    CHECK(num > 3);
    for (int i = 0; i < num; i++) {
        char name[64], about[256];
        int n = sizeof name, m = sizeof about, c = -1, p = -1, k = -1, e = -1, index;
        OK(MPI_T_category_get_info(i, name, &n, about, &m, &c, &p, &k));
        OK(MPI_T_category_get_num_events(i, &e));
        CHECK(n > 1 && m > 1 && c >= 0 && p >= 0 && k >= 0 && e >= 0 && p <= MOST);
        OK(MPI_T_category_get_index(name, &index));
        CHECK_EQ(index, i);
        memset(indices, -1, sizeof indices);
        OK(MPI_T_category_get_pvars(i, MOST, indices));
        for (int j = 0; j < p; j++) CHECK(indices[j] >= 0 && indices[j] < pvars);
        CHECK(p == MOST || indices[p] == -1);
        memset(indices, -1, sizeof indices);
        OK(MPI_T_category_get_cvars(i, 1, indices)); /* room for one */
        CHECK(c ? indices[0] >= 0 && indices[0] < cvars : indices[0] == -1);
        CHECK_EQ(indices[1], -1);
        memset(indices, -1, sizeof indices);
        OK(MPI_T_category_get_events(i, MOST, indices));
        for (int j = 0; j < e; j++) CHECK(indices[j] >= 0 && indices[j] < events);
        OK(MPI_T_category_get_events(i, 0, NULL));
        seen_cvars += c;
        seen_pvars += p;
        seen_events += e;
    }
    CHECK_EQ(seen_cvars, cvars);
    CHECK_EQ(seen_pvars, pvars);
    CHECK_EQ(seen_events, events);
    OK(MPI_T_category_get_index("libimpi", &root));
    CHECK_EQ(depth(root, 0), 3);
    OK(MPI_T_category_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_EQ(MPI_T_category_get_info(num, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_category_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_category_get_num_events(num, &again), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_category_get_num_events(0, NULL), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_category_get_cvars(num, MOST, indices), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_category_get_pvars(num, MOST, indices), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_category_get_events(num, MOST, indices), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_category_get_categories(num, MOST, indices), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_category_get_cvars(0, -1, indices), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_category_get_pvars(0, 1, NULL), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_category_get_index("no such category", &again), MPI_T_ERR_INVALID_NAME);
    CHECK_EQ(MPI_T_category_get_index(NULL, &again), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_category_get_num(NULL), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_category_changed(NULL), MPI_T_ERR_INVALID);
    OK(MPI_T_finalize());
    return check_end();
}
