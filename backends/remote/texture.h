#ifndef HETGPU_BACKENDS_REMOTE_TEXTURE_H_
#define HETGPU_BACKENDS_REMOTE_TEXTURE_H_

#include <cstdint>
#include <memory>

#include "backends/common/texture.h"
#include "backends/remote/connection.h"

namespace hetgpu::remote {

class RemoteTexture final : public Texture {
 public:
  static absl::StatusOr<std::unique_ptr<Texture>> Create(
      std::shared_ptr<Connection> connection, const TextureDesc& desc);
  ~RemoteTexture() override;

  uint64_t handle() const override { return handle_; }
  absl::Status Write(const void* texels) override;
  absl::Status Read(void* texels) override;

 private:
  RemoteTexture(std::shared_ptr<Connection> connection, uint64_t number,
                uint64_t handle, uint64_t bytes)
      : connection_(std::move(connection)),
        number_(number),
        handle_(handle),
        bytes_(bytes) {}
  // Unimplemented when there are too many for a message.
  absl::Status CheckSize() const;

  const std::shared_ptr<Connection> connection_;
  const uint64_t number_;
  const uint64_t handle_;
  const uint64_t bytes_;  // of all texels
};

}  // namespace hetgpu::remote

#endif  // HETGPU_BACKENDS_REMOTE_TEXTURE_H_
