// SPDX-License-Identifier: BSD-3-Clause
// draws_cxx.cc -- random numbers and clocks as C++ programs have them; then with a thread that the first one waits for,
// looking at the clock as often as it happens to.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <mpi.h>
#include <mutex>
#include <omp.h>
#include <random>
#include <thread>

using clock_type = std::chrono::steady_clock;
static std::random_device before; // drawn from before main() begins
static const unsigned first = before();

int main(int argc, char **argv)
{
    int rank, size, turns = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::random_device device("/dev/urandom");
    std::mt19937 generator(device());
    std::mt19937 by_time(std::chrono::high_resolution_clock::now().time_since_epoch().count());
    unsigned from_file = 0;
    std::ifstream file("/dev/urandom", std::ios::binary);
    if (!file.read(reinterpret_cast<char *>(&from_file), sizeof from_file))
        MPI_Abort(MPI_COMM_WORLD, 1);
    const auto begin = clock_type::now();
    const double openmp_begin = omp_get_wtime();
    for (const auto until = clock_type::now() + std::chrono::milliseconds(20); clock_type::now() < until; turns++)
        std::this_thread::sleep_for(std::chrono::microseconds(100));

    const long openmp_ns = long((omp_get_wtime() - openmp_begin) * 1e9);

    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    std::thread worker([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50 + rank * 7));
        std::lock_guard<std::mutex> lock(mutex);
        done = true;
        changed.notify_one();
    });
    {
        std::unique_lock<std::mutex> lock(mutex);
        while (!done)
            changed.wait_for(lock, std::chrono::microseconds(200));
    }
    worker.join();
    const auto took = clock_type::now() - begin; // by a clock that is its own now
    if (took < std::chrono::milliseconds(20) || took > std::chrono::seconds(60))
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("draws: rank %d drew %u %lu %lu %u %ld in %d turns\n", rank, first, (unsigned long)generator(), (unsigned long)by_time(),
           from_file, openmp_ns / 1000, turns);
    MPI_Finalize();
}
