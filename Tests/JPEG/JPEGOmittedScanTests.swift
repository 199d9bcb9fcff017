import AlcedoCore
import AlcedoJPEG
import Foundation
import TestSupport
import Testing

/// A progressive image that is reduced eightfold is decoded without the scans that have no effect on it. When its bytes
/// arrive in pieces, all scans are decoded.
@Suite struct JPEGOmittedScanTests {
    // The details of blocks that lie partly outside of the image are needed, so each side has whole blocks.
    private let size = PixelSize(width: 208, height: 112)

    private func file(_ format: PixelFormat = .rgba8, _ subsampling: JPEGSubsampling = .none) throws -> Data {
        var random = SeededGenerator(seed: 36)
        let pixels = PixelBuffer(size: size, format: format, alphaMode: .opaque) { memory, stride in
            for index in memory.indices {
                let isAlpha = format == .rgba8 && index % 4 == 3
                memory[index] = isAlpha ? 255 : UInt8(index / stride) &+ UInt8.random(in: 0..<90, using: &random)
            }
        }
        let image = DecodedImage(pixels: try #require(pixels))
        return try JPEGEncoder(quality: 90, subsampling: subsampling, isProgressive: true).encode(image)
    }

    private func eighth(_ file: Data) throws -> PixelBuffer {
        try JPEGDecoder().decode(file, options: DecodingOptions(target: TargetSize(width: 20, height: 10))).pixels
    }

    private func eighthFromPieces(_ file: Data) throws -> PixelBuffer {
        let options = DecodingOptions(target: TargetSize(width: 20, height: 10))
        let decoder = JPEGDecoder().makeIncrementalDecoder(options: options)
        try decoder.append(Data(file.prefix(file.count / 2)))
        try decoder.append(Data(file.dropFirst(file.count / 2)))
        return try decoder.finish().pixels
    }

    @Test(arguments: [PixelFormat.rgba8, .gray8], [JPEGSubsampling.none, .horizontal, .both])
    func `the image is the same as with all scans`(format: PixelFormat, subsampling: JPEGSubsampling) throws {
        let file = try file(format, subsampling)

        let image = try eighth(file)

        #expect(image.size == PixelSize(width: 26, height: 14))
        #expect(try image == eighthFromPieces(file))
    }

    @Test func `damage in an omitted scan has no effect`() throws {
        let file = try file()
        // The second scan has coefficients of luminance.
        let scan = try #require(JPEGEditor.range(of: 0xDA, 1, in: file))
        var damaged = file
        for index in scan.dropFirst(10 + scan.count / 2) { damaged[index] = 0x55 }

        #expect(try eighth(damaged) == eighth(file))
        let whole = try? JPEGDecoder().decode(damaged, options: DecodingOptions()).pixels
        #expect(try whole != JPEGDecoder().decode(file, options: DecodingOptions()).pixels)
    }

    @Test func `a file that ends early is decoded with all its scans`() throws {
        let file = try file()
        var count = 0
        while let scan = JPEGEditor.range(of: 0xDA, count, in: file) {
            // libjpeg smooths the blocks of an image without its last scans.
            let part = Data(file[..<scan.upperBound] + [0xFF, 0xD9])
            #expect(try eighth(part) == eighthFromPieces(part), "\(count + 1) scans")
            count += 1
            // Without an end mark, the later scans are missing, unless this is the last one.
            let open = Data(file[..<scan.upperBound])
            #expect((try? eighth(open)) == (count == 10 ? try eighth(part) : nil))
        }
        #expect(count == 10)
    }

    @Test func `more scans than allowed are an error even if they have no effect`() throws {
        let file = try file()
        let scan = try #require(JPEGEditor.range(of: 0xDA, 1, in: file))
        let repeated = Data(repeatElement(Array(file[scan]), count: 200).joined())
        let bomb = Data(file[..<scan.upperBound]) + repeated + file[scan.upperBound...]

        #expect(throws: ImageDecodingError.self) { try eighth(bomb) }
    }
}
