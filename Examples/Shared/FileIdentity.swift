import Alcedo
import Glibc

/// Which file a path leads to, by whatever name and over whatever links.
public struct FileIdentity: Hashable, Sendable {
    private let device: UInt
    private let number: UInt

    /// nil when there is no file.
    public init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, number) = (UInt(status.st_dev), UInt(status.st_ino))
    }

    /// The files that these images are read from.
    static func inputs(of images: [ImageArgument]) -> Set<FileIdentity> {
        Set(
            images.compactMap { image in
                guard case .success(let request) = image.request, case .file(let path) = request.source else {
                    return nil
                }
                return FileIdentity(path: path)
            })
    }
}
