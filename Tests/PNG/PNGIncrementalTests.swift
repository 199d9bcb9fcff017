import AlcedoCore
import AlcedoPNG
import Foundation
import TestSupport
import Testing

@Suite struct PNGIncrementalTests {
    private static let names =
        PNGCase.all.map(\.name) + ["exif.png", "xmp.png", "profile.png", "animation.png", "animation-default.png"]
    private static let variants = [
        DecodingOptions(), DecodingOptions(alphaMode: .premultiplied, pixelFormat: .gray8),
        DecodingOptions(target: TargetSize(width: 4, height: 4), pixelFormat: .rgba16),
    ]
    private let decoder = PNGDecoder()

    /// The result of decoding in a comparable form.
    private enum Outcome: Equatable {
        case image(PixelBuffer, ImageOrientation, Data?, frames: Int?, damage: ImageDecodingError.Code?)
        case failure(ImageDecodingError.Code)

        var code: ImageDecodingError.Code? {
            switch self {
            case .image(_, _, _, frames: _, damage: let code): code
            case .failure(let code): code
            }
        }

        init(_ body: () throws(ImageDecodingError) -> DecodedImage) {
            do throws(ImageDecodingError) {
                let image = try body()
                self = .image(
                    image.pixels, image.orientation, image.colorProfile, frames: image.frames?.frameCount,
                    damage: image.partialError?.code)
            } catch {
                self = .failure(error.code)
            }
        }
    }

    private func atOnce(_ data: Data, _ options: DecodingOptions) -> Outcome {
        Outcome { () throws(ImageDecodingError) in try decoder.decode(data, options: options) }
    }

    private func inPieces(_ data: Data, _ options: DecodingOptions, _ next: () -> Int) -> Outcome {
        let incremental = decoder.makeIncrementalDecoder(options: options)
        return Outcome { () throws(ImageDecodingError) in
            var rest = data
            while !rest.isEmpty {
                let count = next()
                try incremental.append(rest.prefix(count))
                rest = rest.dropFirst(count)
            }
            return try incremental.finish()
        }
    }

    @Test(arguments: names, variants)
    func `pieces of any size yield the same image`(name: String, options: DecodingOptions) throws {
        let data = try fixture(name)
        var random = SeededGenerator(seed: 41)
        let expected = atOnce(data, options)

        #expect(inPieces(data, options) { 1 } == expected)
        #expect(inPieces(data, options) { data.count } == expected)
        #expect(inPieces(data, options) { Int.random(in: 1...90, using: &random) } == expected)
    }

    @Test(arguments: ["rgba.png", "gray1-interlaced.png", "rgb16-interlaced.png", "xmp.png", "animation.png"])
    func `a file that ends early yields the same error or partial image`(name: String) throws {
        let data = try fixture(name)
        for count in 1..<data.count {
            let cut = data.prefix(count)
            #expect(inPieces(cut, DecodingOptions()) { 7 } == atOnce(cut, DecodingOptions()), "\(count) bytes")
            // The number of rows that zlib returns from the last bytes depends on the pieces.
            let options = DecodingOptions(pixelFormat: .gray8, allowsPartial: true)
            let code = atOnce(cut, options).code
            #expect(inPieces(cut, options) { 7 }.code == code)
            #expect([nil, .truncated].contains(code))
        }
    }

    @Test(arguments: ["rgba.png", "rgba-interlaced.png", "palette-alpha.png", "profile.png", "animation.png"])
    func `damage yields the same error`(name: String) throws {
        let data = try fixture(name)
        var random = SeededGenerator(seed: 43)
        for _ in 0..<300 {
            var damaged = data
            damaged[Int.random(in: 8..<data.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            let options = DecodingOptions(limits: DecodingLimits(maximumPixelCount: 100_000))
            #expect(inPieces(damaged, options) { 11 } == atOnce(damaged, options))
        }
    }

    @Test func `metadata after the pixels is read`() throws {
        let file = try fixture("rgb.png")
        let late = Data(
            file.prefix(file.count - 12) + PNGWriter.chunk("eXIf", PNGWriter.exif(orientation: 6)) + PNGWriter.end)

        #expect(inPieces(late, DecodingOptions()) { 5 } == atOnce(late, DecodingOptions()))
    }

    @Test(arguments: ["te4t", "te[t", "te\u{7F}t", "a\u{E9}t"])
    func `an invalid chunk name gives the same error for any pieces`(name: String) throws {
        let file = try fixture("rgb.png")
        let others = PNGWriter.chunk("teSt", [1, 2, 3]) + PNGWriter.chunk(name, [1, 2, 3])
        let late = Data(file.prefix(file.count - 12) + others + PNGWriter.end)

        #expect(inPieces(late, DecodingOptions()) { 5 } == atOnce(late, DecodingOptions()))
    }

    @Test func `the header is known when the pixels begin`() throws {
        let data = try fixture("profile.png")
        let incremental = decoder.makeIncrementalDecoder(options: DecodingOptions())
        let pixels = try #require(data.firstRange(of: Data("IDAT".utf8)))

        try incremental.append(data.prefix(pixels.upperBound - 1))
        #expect(incremental.info == nil)
        try incremental.append(data[pixels.upperBound - 1..<pixels.upperBound])

        #expect(try incremental.info == decoder.inspect(data, limits: DecodingLimits()))
        #expect(try incremental.preview() == nil)
    }

    @Test(arguments: ["rgb16.png", "rgba-interlaced.png", "animation.png"])
    func `previews grow until they equal the image`(name: String) throws {
        let data = try fixture(name)
        let incremental = decoder.makeIncrementalDecoder(options: DecodingOptions())
        var seen: [ImagePreview] = []

        for byte in data.indices {
            try incremental.append(data[byte..<byte + 1])
            if let preview = try incremental.preview() { seen.append(preview) }
            #expect(try incremental.preview() == nil)
        }
        let image = try incremental.finish()

        #expect(seen.count > 2)
        let steps = seen.map { $0.pass * 100 + $0.rowCount }
        #expect(steps == steps.sorted())
        let last = try #require(seen.last)
        #expect(last.rowCount == Samples.size.height)
        // Compositing clears the color of transparent pixels.
        let (shown, decoded) = (last.image.pixels.tightBytes, image.pixels.tightBytes)
        #expect(clearingTransparent(Data(shown)) == clearingTransparent(Data(decoded)))
        let first = try #require(seen.first)
        #expect(first.image.size == Samples.size)
        #expect(first.rowCount < Samples.size.height || first.pass < 7)
    }

    @Test func `an exceeded limit is reported as soon as the pixels begin`() throws {
        let options = DecodingOptions(limits: DecodingLimits(maximumPixelCount: 10))
        let incremental = decoder.makeIncrementalDecoder(options: options)

        let error = #expect(throws: ImageDecodingError.self) { try incremental.append(fixture("rgb.png").prefix(60)) }

        #expect(error?.code == .exceedsLimit)
        #expect(throws: try #require(error)) { try incremental.finish() }
    }
}
