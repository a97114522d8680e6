// Breadth-first search by frontiers: each launch expands one level. The
// graph is in compressed sparse rows; distance is -1 where not reached.

extern "C" __global__ void bfs_expand(const int* row_start, const int* column,
                                      int* distance, int level,
                                      const int* frontier,
                                      const int* frontier_size,
                                      int* next_frontier, int* next_size) {
  for (int f = blockIdx.x * blockDim.x + threadIdx.x; f < *frontier_size;
       f += gridDim.x * blockDim.x) {
    const int node = frontier[f];
    for (int e = row_start[node]; e < row_start[node + 1]; ++e) {
      const int neighbor = column[e];
      if (atomicCAS(&distance[neighbor], -1, level + 1) == -1) {
        next_frontier[atomicAdd(next_size, 1)] = neighbor;
      }
    }
  }
}
