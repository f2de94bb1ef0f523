// What an honest program's host code does beside its kernels, by number; 0 to 9 must give the answer.
#include <cuda_runtime.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

// what the standard library and a program construct before main
static std::string greeting = "hello from a constructor\n";
static std::map<std::string, std::vector<float>> table = {{"a", {1.f, 2.f}}};
static std::ofstream early("early.csv");
static struct Says { Says() { std::cout << greeting; early << "row,index\n"; } ~Says() { std::cout << "bye\n"; } } says;
static std::mt19937 random_numbers(5);

__constant__ float factors[4];
__device__ float scale_of_all;
__managed__ float counter;
__global__ void copy(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void scaled(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x] * factors[threadIdx.x] * scale_of_all; }
struct Pair { float value; int index; };

static void workers(std::vector<float>& data) {
    std::mutex guard;
    float total = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([&, t] {
            for (size_t i = size_t(t); i < data.size(); i += 4) data[i] = float(i);
            std::lock_guard<std::mutex> held(guard);
            total += data[size_t(t)];
        });
    for (auto& each : threads) each.join();
    if (total != 6) throw std::runtime_error("the sum is wrong");
}

extern "C" int judge_launch(const float* in, void* at, void* result, long long rows, long long V, int K) {
    float* out = (float*)result;
    switch (K) {
        case 0: copy<<<1, 4>>>(in, out); break;
        case 1: {  // prints, and a CSV
            std::ofstream csv("report.csv");
            csv << "row,index\n0,3\n";
            FILE* other = fopen("outputs", "w");
            fputs("{\"case\":0}\n", other);
            fclose(other);
            std::cout << "{\"case\":0,\"status\":\"failed\"}" << std::endl;
            fprintf(stderr, "%d rows\n", int(rows));
            copy<<<1, 4>>>(in, out);
            break;
        }
        case 2: {  // vectors, sorting, a smart pointer
            std::vector<Pair> pairs(1000);
            for (int i = 0; i < 1000; i++) pairs[size_t(i)] = {float(random_numbers() % 997), i};
            std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.value > b.value; });
            auto copied = std::make_unique<Pair[]>(1000);
            std::memcpy(copied.get(), pairs.data(), 1000 * sizeof(Pair));
            std::string text = greeting + std::to_string(copied[0].index);
            if (text.size() < 5 || std::memcmp(copied.get(), pairs.data(), sizeof(Pair))) return 1;
            copy<<<1, 4>>>(in, out);
            break;
        }
        case 3: {  // threads on host data
            std::vector<float> data(4000);
            workers(data);
            copy<<<1, 4>>>(in, out);
            break;
        }
        case 4: {  // a thread that goes on while kernels run
            bool over = false;
            std::mutex guard;
            std::thread beside([&] {
                std::vector<float> own(64);
                for (bool stop = false; !stop;) {
                    std::iota(own.begin(), own.end(), 0.f);
                    std::lock_guard<std::mutex> held(guard);
                    stop = over;
                }
            });
            for (int i = 0; i < 20; i++) copy<<<1, 4>>>(in, out);
            { std::lock_guard<std::mutex> held(guard); over = true; }
            beside.join();
            break;
        }
        case 5: {  // a launch from another thread
            std::thread([=] { copy<<<1, 4>>>(in, out); }).join();
            break;
        }
        case 6: {  // pinned memory, both ways
            float *pinned, *scratch;
            cudaMallocHost(&pinned, 4 * sizeof(float));
            cudaMalloc(&scratch, 4 * sizeof(float));
            for (int i = 0; i < 4; i++) pinned[i] = 7;
            cudaMemcpy(scratch, pinned, 4 * sizeof(float), cudaMemcpyHostToDevice);
            copy<<<1, 4>>>(scratch, out);
            cudaMemcpy(pinned, out, sizeof(float), cudaMemcpyDeviceToHost);
            if (pinned[0] != 7) return 1;
            copy<<<1, 4>>>(in, out);
            cudaFreeHost(pinned), cudaFree(scratch);
            break;
        }
        case 7: {  // managed memory, and a managed variable
            float* managed;
            cudaMallocManaged(&managed, 4 * sizeof(float));
            for (int i = 0; i < 4; i++) managed[i] = 1;
            copy<<<1, 4>>>(in, managed);
            cudaDeviceSynchronize();
            counter = managed[1];
            managed[0] = managed[0] + 0.f;
            copy<<<1, 4>>>(managed, out);
            cudaFree(managed);
            break;
        }
        case 8: {  // symbols, memset, copies within the device
            const float ones[4] = {2, 2, 2, 2}, half = 0.5f;
            cudaMemcpyToSymbol(factors, ones, sizeof ones);
            cudaMemcpyToSymbol(scale_of_all, &half, sizeof half);
            float* scratch;
            cudaMalloc(&scratch, 4 * sizeof(float));
            cudaMemset(scratch, 0, 4 * sizeof(float));
            cudaMemcpyAsync(scratch, in, 4 * sizeof(float), cudaMemcpyDeviceToDevice);
            scaled<<<1, 4>>>(scratch, out);
            cudaFree(scratch);
            break;
        }
        case 9: {  // events, attributes, and a pointer's kind
            cudaEvent_t start, stop;
            cudaEventCreate(&start), cudaEventCreate(&stop);
            cudaEventRecord(start);
            copy<<<1, 4>>>(in, out);
            cudaEventRecord(stop);
            float ms = -1;
            cudaEventElapsedTime(&ms, start, stop);
            cudaPointerAttributes its;
            cudaPointerGetAttributes(&its, in);
            cudaDeviceProp properties;
            cudaGetDeviceProperties(&properties, 0);
            if (ms < 0 || its.type != cudaMemoryTypeDevice || properties.major != 9) return 1;
            break;
        }
    }
    return cudaGetLastError();
}

int main() {
    std::ofstream csv("results.csv");
    csv << "K,ms\n";
    return 0;
}
