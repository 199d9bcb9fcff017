import Alcedo
import Foundation

/// A program that makes a thumbnail of an upload, whose bytes it reads in chunks as a server does.
@main
enum UploadToThumbnail {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count <= 2, arguments.allSatisfy({ $0 == "-" || !$0.hasPrefix("-") }) else {
            FileHandle.standardError.write(Data("usage: upload-to-thumbnail [IMAGE|-] [OUTPUT]\n".utf8))
            exit(2)
        }
        let (input, output) = (arguments.first ?? "-", arguments.count == 2 ? arguments[2] : "thumbnail.webp")
        do {
            let file = try input == "-" ? .standardInput : FileHandle(forReadingFrom: URL(filePath: input))
            // No thread waits for a chunk, so that the timeout ends the wait.
            let (body, chunks) = AsyncThrowingStream<Data, any Error>.makeStream()
            let (queue, descriptor) = (DispatchQueue(label: "upload"), file.fileDescriptor)
            let io = DispatchIO(type: .stream, fileDescriptor: descriptor, queue: queue) { [file] _ in _ = file }
            chunks.onTermination = { _ in io.close(flags: .stop) }
            io.read(offset: 0, length: .max, queue: queue) { isDone, chunk, error in
                chunks.yield(Data(chunk ?? .empty))
                if isDone { chunks.finish(throwing: error == 0 ? nil : CocoaError(.fileReadUnknown)) }
            }
            // At most 320 x 320 pixels with rounded corners, without the location of the upload.
            let (limits, size) = (DecodingLimits(maximumPixelCount: 50_000_000), PixelSize(width: 320, height: 320))
            let images = try await ImageConverter(limits: limits, metadata: .keepWithoutLocation).convert(
                body, maximumByteCount: 32 << 20, timeout: .seconds(30),
                to: [.init(.webp(quality: 80), fitting: size, processors: [.roundedCorners(radius: 24)])],
                placeholders: .blurHash)
            try images.variants[0].data.write(to: URL(filePath: output), options: .atomic)
            print("in:  \(images.source.format), \(images.source.uprightSize)")
            print("out: \(images.variants[0].format), \(images.variants[0].size), BlurHash \(images.blurHash ?? "")")
        } catch {
            FileHandle.standardError.write(Data("upload-to-thumbnail: \(error)\n".utf8))
            exit(1)
        }
    }
}
