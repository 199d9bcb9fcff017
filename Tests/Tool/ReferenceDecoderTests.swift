import Alcedo
import CReferenceDecoders
import Foundation
import TestSupport
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

    @Test func `a JPEG is reduced to the scale that the decoder uses for a thumbnail`() throws {
        // 1200 x 800 pixels.
        let bytes = [UInt8](try SampleImages.data("dunes.jpg"))

        #expect(alcedo_reference_reduce_jpeg(bytes, bytes.count, 40) == 300 * 200)
        #expect(alcedo_reference_reduce_jpeg(bytes, bytes.count, 100) == 600 * 400)
        #expect(alcedo_reference_reduce_jpeg(bytes, bytes.count, 1_200) == 1_200 * 800)
        #expect(alcedo_reference_reduce_jpeg(bytes, 24, 100) == 0)
    }

    @Test(arguments: [("GIF", "animated.gif"), ("WebP", "animated.webp")])
    func `the frames of an animation are decoded up to a limit`(format: String, name: String) throws {
        let data = try fixture("\(format)/Fixtures/\(name)")
        let bytes = [UInt8](data)
        let decode = format == "GIF" ? alcedo_reference_decode_gif_frames : alcedo_reference_decode_webp_frames
        let info = try CodecRegistry.standard.inspect(data)
        try #require(info.frameCount > 1)

        let counts = [1, info.frameCount, .max].map { decode(bytes, bytes.count, $0) }

        #expect(counts[0] == info.size.pixelCount)
        #expect(counts[0] < counts[1])
        #expect(counts[1] == counts[2])
        #expect(decode(bytes, 24, 1) == 0)
    }

    @Test func `the loop over headers writes a line for each image, and none for other files`() throws {
        let directory = try TemporaryDirectory()
        let fixtures = [("PNG", "rgb.png"), ("JPEG", "420.jpg"), ("GIF", "plain.gif"), ("WebP", "lossy.webp")]
        var (paths, expected) = ([String](), [String]())
        for (format, name) in fixtures {
            let data = try fixture("\(format)/Fixtures/\(name)")
            let file = directory.url.appending(path: name)
            try data.write(to: file)
            let size = try CodecRegistry.standard.inspect(data).size
            paths.append(file.path)
            expected.append("\(file.path): \(size.width)x\(size.height) uchar, 3 bands, ")
        }
        let text = directory.url.appending(path: "rubbish.png")
        try Data("rubbish, of no format at all".utf8).write(to: text)
        let output = directory.url.appending(path: "lines")
        let pointers = (paths + [text.path, "/nowhere.png"]).map { strdup($0) }
        defer { pointers.forEach { free($0) } }

        let count = alcedo_reference_print_headers(pointers, pointers.count, output.path)

        #expect(count == 4)
        let lines = try String(contentsOf: output, encoding: .utf8).split(separator: "\n")
        try #require(lines.count == 4)
        for (line, start) in zip(lines, expected) { #expect(line.hasPrefix(start)) }
    }
}
