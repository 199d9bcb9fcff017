import Alcedo
import Foundation

/// A program that makes a thumbnail of an upload, whose bytes it reads in chunks as a server does.
@main
enum UploadToThumbnail {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count <= 2, arguments.allSatisfy({ $0 == "-" || !$0.hasPrefix("-") }) else {
            end(2, "usage: upload-to-thumbnail [IMAGE|-] [OUTPUT]")
        }
        let (input, output) = (arguments.first ?? "-", arguments.count == 2 ? arguments[2] : "thumbnail.webp")
        do {
            let file = try input == "-" ? .standardInput : FileHandle(forReadingFrom: URL(filePath: input))
            let images = try await thumbnail(of: AsyncThrowingStream { try file.read(upToCount: 64 << 10) })
            try images.variants[0].data.write(to: URL(filePath: output), options: .atomic)
            print("in:  \(images.source.format), \(images.source.uprightSize)")
            print("out: \(images.variants[0].format), \(images.variants[0].size), BlurHash \(images.blurHash ?? "")")
        } catch {
            end(1, "\(error)")
        }
    }

    /// Returns a WebP image of at most 320 x 320 pixels with rounded corners, without the location of the upload.
    static func thumbnail(of body: AsyncThrowingStream<Data, any Error>) async throws -> ConvertedImages {
        let limits = DecodingLimits(maximumPixelCount: 50_000_000)
        let size = PixelSize(width: 320, height: 320)
        return try await ImageConverter(limits: limits, metadata: .keepWithoutLocation).convert(
            body, maximumByteCount: 32 << 20, timeout: .seconds(30),
            to: [.init(.webp(quality: 80), fitting: size, processors: [.roundedCorners(radius: 24)])],
            placeholders: .blurHash)
    }

    private static func end(_ status: Int32, _ problem: String) -> Never {
        FileHandle.standardError.write(Data("upload-to-thumbnail: \(problem)\n".utf8))
        exit(status)
    }
}
