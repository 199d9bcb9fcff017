import Alcedo
import CReferenceDecoders
import Foundation
import Testing

/// Tests of the C loops that `alcedo-bench decode` compares the decoders with: they must do the same work.
struct ReferenceDecoderTests {
    private func fixture(_ path: String) throws -> Data {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return try Data(contentsOf: tests.appending(path: path))
    }

    private func pixelCount(_ format: String, _ data: Data) -> Int {
        // Contiguous memory that is valid also for no bytes.
        let bytes = [UInt8](data) + [0]
        return switch format {
        case "PNG": alcedo_reference_decode_png(bytes, data.count)
        case "JPEG": alcedo_reference_decode_jpeg(bytes, data.count)
        case "GIF": alcedo_reference_decode_gif(bytes, data.count)
        default: alcedo_reference_decode_webp(bytes, data.count)
        }
    }

    @Test(arguments: [
        ("PNG", ["rgb.png", "rgba-interlaced.png", "palette4.png", "gray8.png"]),
        ("JPEG", ["420.jpg", "progressive.jpg", "rgb.jpg", "large.jpg"]),
        ("GIF", ["plain.gif", "interlaced.gif", "transparent.gif"]),
        ("WebP", ["lossy.webp", "lossless-alpha.webp"]),
    ])
    func `every pixel of an intact file is decoded`(format: String, names: [String]) throws {
        for name in names {
            let data = try fixture("\(format)/Fixtures/\(name)")
            #expect(try pixelCount(format, data) == CodecRegistry.standard.inspect(data).size.pixelCount, "\(name)")
        }
    }

    @Test(arguments: [("PNG", "rgb.png"), ("JPEG", "420.jpg"), ("GIF", "plain.gif"), ("WebP", "lossy.webp")])
    func `bytes that are not an image, or end in its header, yield no pixels`(format: String, name: String) throws {
        #expect(pixelCount(format, Data()) == 0)
        #expect(pixelCount(format, Data("rubbish, of no format at all".utf8)) == 0)
        #expect(try pixelCount(format, fixture("\(format)/Fixtures/\(name)").prefix(24)) == 0)
    }
}
