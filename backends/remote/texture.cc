#include "backends/remote/texture.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace hetgpu::remote {

absl::StatusOr<std::unique_ptr<Texture>> RemoteTexture::Create(
    std::shared_ptr<Connection> connection, const TextureDesc& desc) {
  CreateTexture message;
  message.texture = connection->NewNumber();
  message.desc = desc;
  const auto reply = connection->Call(message);
  if (!reply.ok()) return reply.status();
  if (!reply->status.ok()) return reply->status;
  return std::unique_ptr<Texture>(
      new RemoteTexture(std::move(connection), message.texture, reply->number,
                        desc.Bytes()));
}

RemoteTexture::~RemoteTexture() {
  Destroy message;
  message.kind = Destroy::Kind::kTexture;
  message.object = number_;
  (void)connection_->Post(message);
}

absl::Status RemoteTexture::CheckSize() const {
  if (bytes_ <= kMaxTexelBytes) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      "remote: a texture of ", bytes_, " bytes; those of devices in processes "
      "of their own are written and read up to ", kMaxTexelBytes));
}

absl::Status RemoteTexture::Write(const void* texels) {
  absl::Status fits = CheckSize();
  if (!fits.ok()) return fits;
  WriteTexture message;
  message.texture = number_;
  message.texels.assign(static_cast<const char*>(texels), bytes_);
  const auto reply = connection_->Call(message);
  return reply.ok() ? reply->status : reply.status();
}

absl::Status RemoteTexture::Read(void* texels) {
  absl::Status fits = CheckSize();
  if (!fits.ok()) return fits;
  ReadTexture message;
  message.texture = number_;
  const auto reply = connection_->Call(message);
  if (!reply.ok()) return reply.status();
  if (!reply->status.ok()) return reply->status;
  if (reply->text.size() != bytes_) {
    return absl::InternalError(
        absl::StrCat("remote: ", reply->text.size(), " bytes of texels, not ",
                     bytes_));
  }
  std::memcpy(texels, reply->text.data(), bytes_);
  return absl::OkStatus();
}

}  // namespace hetgpu::remote
