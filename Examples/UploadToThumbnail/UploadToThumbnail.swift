import Alcedo
import Foundation

/// A program that makes a thumbnail of an uploaded image, as a server does. It converts `Data` to `Data` without a
/// pipeline.
@main
enum UploadToThumbnail {
    /// The maximum number of bytes of an upload.
    private static let uploadLimit = 32 << 20

    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count <= 2, arguments.allSatisfy({ $0 == "-" || !$0.hasPrefix("-") }) else {
            end(2, "usage: upload-to-thumbnail [IMAGE|-] [OUTPUT]")
        }
        let input = arguments.first ?? "-"
        let output = arguments.count == 2 ? arguments[2] : "thumbnail.webp"
        do {
            let upload = try read(input)
            let thumbnail = try await thumbnail(of: upload)
            try thumbnail.write(to: URL(filePath: output), options: .atomic)
            let before = try CodecRegistry.standard.inspect(upload)
            let after = try CodecRegistry.standard.inspect(thumbnail)
            print("in:  \(before.format), \(before.uprightSize), \(upload.count) bytes")
            print("out: \(after.format), \(after.size), \(thumbnail.count) bytes, \(output)")
        } catch {
            end(1, "\(error)")
        }
    }

    /// Returns a WebP image that fits into 320 x 320 pixels and has rounded corners.
    ///
    /// The image is upright. EXIF data is kept without the location, which a photo should not publish by accident.
    static func thumbnail(of upload: Data) async throws -> Data {
        let converter = ImageConverter(
            limits: DecodingLimits(maximumPixelCount: 50_000_000),
            metadata: .keepWithoutLocation,
            processors: [.roundedCorners(radius: 24)])
        return try await converter.convert(
            upload, to: .webp(quality: 80), fitting: PixelSize(width: 320, height: 320))
    }

    /// Returns the bytes of a file, or of standard input for `-`. Throws an error if they exceed ``uploadLimit``.
    private static func read(_ path: String) throws -> Data {
        let file = path == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
        let data = try file.read(upToCount: uploadLimit + 1) ?? Data()
        guard data.count <= uploadLimit else {
            throw ImageDecodingError(.exceedsLimit, "the upload exceeds the limit of \(uploadLimit) bytes")
        }
        return data
    }

    private static func end(_ status: Int32, _ problem: String) -> Never {
        FileHandle.standardError.write(Data("upload-to-thumbnail: \(problem)\n".utf8))
        exit(status)
    }
}
