/* SPDX-License-Identifier: BSD-3-Clause */
/* searches.cpp -- breadth-first searches of a graph that lies in parts at the ranks, by Boost's
 * parallel graph library; run by bench/packaged. Rank 0 prints the sum of all distances. */
#include <boost/graph/use_mpi.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/distributed/adjacency_list.hpp>
#include <boost/graph/distributed/mpi_process_group.hpp>
#include <boost/graph/erdos_renyi_generator.hpp>
#include <boost/mpi.hpp>
#include <boost/random/linear_congruential.hpp>
#include <iostream>

using namespace boost;
typedef adjacency_list<vecS, distributedS<graph::distributed::mpi_process_group, vecS>, undirectedS,
                       property<vertex_distance_t, std::size_t>>
    Graph;
static const std::size_t VERTICES = 20000, NEIGHBOURS = 10, SEARCHES = 80, FAR = 1000000;

static std::size_t search(Graph &g, std::size_t from)
{
    property_map<Graph, vertex_distance_t>::type distance = get(vertex_distance, g);
    graph_traits<Graph>::vertex_iterator v, end;
    std::size_t sum = 0;
    for (tie(v, end) = vertices(g); v != end; ++v)
        put(distance, *v, FAR);
    put(distance, vertex(from, g), 0);
    synchronize(distance);
    breadth_first_search(g, vertex(from, g),
                         visitor(make_bfs_visitor(record_distances(distance, on_tree_edge()))));
    for (tie(v, end) = vertices(g); v != end; ++v)
        sum += get(distance, *v) < FAR ? get(distance, *v) : 0;
    return sum;
}

int main(int argc, char **argv)
{
    mpi::environment environment(argc, argv);
    mpi::communicator world;
    typedef erdos_renyi_iterator<minstd_rand, Graph> Edges;
    minstd_rand random(17);
    Graph g(Edges(random, VERTICES, (double)NEIGHBOURS / VERTICES), Edges(), VERTICES);
    synchronize(g);
    std::size_t sum = 0;
    for (std::size_t i = 0; i < SEARCHES; i++)
        sum += search(g, 7 * i);
    sum = mpi::all_reduce(world, sum, std::plus<std::size_t>());
    if (world.rank() == 0)
        std::cout << "sum of distances " << sum << std::endl;
    return 0;
}
