// Structures linked by pointers, built and walked by kernels.

struct Node {
  Node* next;
  unsigned value;
};

// A list through `nodes`, with a stride so that neighbours lie apart. The stride
// and `count` have no common factor.
extern "C" __global__ void build_list(Node* nodes, unsigned count,
                                      unsigned stride) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const unsigned at = (unsigned)((unsigned long long)i * stride % count);
  const unsigned behind =
      (unsigned)((unsigned long long)(i + 1) * stride % count);
  nodes[at].value = i * i;
  nodes[at].next = i + 1 == count ? nullptr : &nodes[behind];
}

extern "C" __global__ void walk_list(const Node* head,
                                     unsigned long long* sum) {
  unsigned long long total = 0;
  for (const Node* node = head; node != nullptr; node = node->next) {
    total = total * 3 + node->value;
  }
  *sum = total;
}

extern "C" __global__ void grow_list(Node* head, unsigned more) {
  for (Node* node = head; node != nullptr; node = node->next) {
    node->value += more;
  }
}

// Connects the end of one list with another one.
extern "C" __global__ void join_lists(Node* head, Node* tail) {
  Node* node = head;
  while (node->next != nullptr) node = node->next;
  node->next = tail;
}

struct Tree {
  Tree* child[2];
  unsigned key, value;
};

// A search tree over keys 2 i + 1, the middle one as the root: thread i places
// its node and links its children.
extern "C" __global__ void build_tree(Tree* nodes, unsigned levels,
                                      Tree** root) {
  const unsigned count = (1u << levels) - 1;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  // In order of keys, a node's level is that of its trailing ones.
  unsigned level = 0;
  while ((i >> level & 1) != 0) ++level;
  Tree* node = &nodes[i];
  node->key = 2 * i + 1;
  node->value = i ^ 0x5a5a;
  const unsigned step = level == 0 ? 0 : 1u << (level - 1);
  node->child[0] = step == 0 ? nullptr : &nodes[i - step];
  node->child[1] = step == 0 ? nullptr : &nodes[i + step];
  if (level + 1 == levels) *root = node;
}

// ~0 where a key is not there.
extern "C" __global__ void search_tree(Tree* const* root, const unsigned* keys,
                                       unsigned* values, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const Tree* node = *root;
  while (node != nullptr && node->key != keys[i]) {
    node = node->child[keys[i] > node->key];
  }
  values[i] = node == nullptr ? ~0u : node->value;
}

struct Entry {
  Entry* next;
  unsigned key, value;
};

__device__ unsigned Bucket(unsigned key, unsigned buckets) {
  return key * 2654435761u % buckets;
}

// Chained buckets; entries come from a pool.
extern "C" __global__ void hash_insert(Entry** table, unsigned buckets,
                                       Entry* pool, unsigned first,
                                       unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Entry* entry = &pool[first + i];
  entry->key = first + i;
  entry->value = (first + i) * 7;
  auto* head = (unsigned long long*)&table[Bucket(entry->key, buckets)];
  unsigned long long old = *head;
  while (true) {
    entry->next = (Entry*)old;
    const unsigned long long seen =
        atomicCAS(head, old, (unsigned long long)entry);
    if (seen == old) return;
    old = seen;
  }
}

extern "C" __global__ void hash_find(Entry* const* table, unsigned buckets,
                                     unsigned* values, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const Entry* entry = table[Bucket(i, buckets)];
  while (entry != nullptr && entry->key != i) entry = entry->next;
  values[i] = entry == nullptr ? ~0u : entry->value;
}

extern "C" __global__ void scale(float* to, const float* from, float factor,
                                 unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = from[i] * factor + 1;
}
