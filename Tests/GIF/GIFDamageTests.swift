import TestSupport
import AlcedoCore
import AlcedoGIF
import Foundation
import Testing

@Suite struct GIFDamageTests {
    private let decoder = GIFDecoder()
    private let pixel = GIFWriter.image(width: 1, height: 1, indices: [0])

    private func errorCode(_ data: Data, limits: DecodingLimits = DecodingLimits()) -> ImageDecodingError.Code? {
        do throws(ImageDecodingError) {
            _ = try decoder.decode(data, options: DecodingOptions(limits: limits))
            return nil
        } catch {
            return error.code
        }
    }

    private func file(width: Int = 1, height: Int = 1, _ blocks: [[UInt8]]) -> Data {
        GIFWriter.file(width: width, height: height, palette: [(1, 2, 3)], blocks)
    }

    @Test(arguments: ["plain.gif", "interlaced.gif", "transparent.gif", "animated.gif"])
    func `every prefix is the whole first frame or truncated`(name: String) throws {
        let data = try fixture(name)
        let whole = try decoder.decode(data, options: DecodingOptions()).pixels
        #expect(errorCode(data.prefix(0)) == .empty)
        var decoded = 0

        for count in 1..<data.count {
            do throws(ImageDecodingError) {
                let pixels = try decoder.decode(data.prefix(count), options: DecodingOptions()).pixels
                #expect(pixels == whole, "\(count) bytes")
                decoded += 1
            } catch {
                #expect(error.code == .truncated, "\(count) bytes: \(error)")
            }
        }

        // A still picture lacks its trailer only.
        if name != "animated.gif" { #expect(decoded == 1) }
    }

    @Test func `inspecting a prefix counts the frames that are whole`() throws {
        let data = try fixture("animated.gif")
        var counts: [Int] = []

        for count in 1...data.count {
            do throws(ImageDecodingError) {
                counts.append(try decoder.inspect(data.prefix(count), limits: DecodingLimits()).frameCount)
            } catch {
                #expect(error.code == .truncated)
                #expect(counts.isEmpty)
            }
        }

        #expect(counts == counts.sorted())
        #expect(Set(counts) == [1, 2, 3])
    }

    @Test(arguments: ["plain.gif", "interlaced.gif", "transparent.gif", "animated.gif"])
    func `flipped bits give an error or an image of the size announced`(name: String) throws {
        let data = try fixture(name)
        var random = SeededGenerator(seed: 17)
        let limits = DecodingLimits(maximumPixelCount: 100_000)

        for _ in 0..<1_500 {
            var damaged = data
            for _ in 0...Int.random(in: 0...3, using: &random) {
                damaged[Int.random(in: 0..<data.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            let size = try? decoder.inspect(damaged, limits: limits).size
            guard let image = try? decoder.decode(damaged, options: DecodingOptions(limits: limits)) else { continue }
            #expect(size == nil || image.size == size)
        }
    }

    @Test func `a canvas over the limit is refused before anything else is read`() {
        let headerOnly = GIFWriter.file(width: 65_535, height: 65_535, palette: nil, [], trailer: false)

        #expect(errorCode(headerOnly) == .exceedsLimit)
        #expect(errorCode(file([pixel]), limits: DecodingLimits(maximumByteCount: 63)) == .exceedsLimit)
        #expect(errorCode(file([pixel]), limits: DecodingLimits(maximumByteCount: 64)) == nil)
        #expect(throws: ImageDecodingError.self) { try decoder.inspect(headerOnly, limits: DecodingLimits()) }
    }

    @Test func `a frame over the limit is refused before its rows are read`() {
        let frame = GIFWriter.image(width: 65_535, height: 65_535, indices: [])

        #expect(errorCode(file([frame])) == .exceedsLimit)
    }

    @Test func `frames are counted up to the limit`() throws {
        let three = file([pixel, pixel, pixel])

        #expect(try decoder.inspect(three, limits: DecodingLimits(maximumFrameCount: 3)).frameCount == 3)
        #expect(throws: ImageDecodingError(.exceedsLimit, "GIF: there are more than 2 frames")) {
            try decoder.inspect(three, limits: DecodingLimits(maximumFrameCount: 2))
        }
    }

    @Test func `a canvas or a frame without pixels is corrupt`() {
        #expect(errorCode(file(width: 0, [pixel])) == .corrupt)
        #expect(errorCode(file(height: 0, [pixel])) == .corrupt)
        #expect(errorCode(file([GIFWriter.image(width: 0, height: 1, indices: [])])) == .corrupt)
        #expect(errorCode(file([GIFWriter.image(width: 1, height: 0, indices: [])])) == .corrupt)
    }

    @Test func `pixels that are missing inside a whole file are corrupt`() {
        let short = GIFWriter.image(width: 4, height: 4, indices: [0, 0, 0])

        #expect(errorCode(file(width: 4, height: 4, [short])) == .corrupt)
    }

    @Test func `other contradictions have their own errors`() throws {
        let noPalette = GIFWriter.file(width: 1, height: 1, palette: nil, [pixel])

        #expect(errorCode(noPalette) == .corrupt)
        #expect(errorCode(file([])) == .corrupt)
        #expect(errorCode(file([[0x99], pixel])) == .corrupt)
        #expect(errorCode(Data("no picture at all".utf8)) == .corrupt)
        #expect(errorCode(Data("GIF90a.......".utf8)) == .unsupportedVariant)
        #expect(
            errorCode(file([GIFWriter.image(width: 1, height: 1, codeSize: 12, indices: [0])])) == .unsupportedVariant)
        #expect(throws: ImageDecodingError(.corrupt, "GIF: there is no image")) {
            try decoder.inspect(file([]), limits: DecodingLimits())
        }
    }

    @Test func `damage after the first frame does not spoil it`() throws {
        let damaged = file([pixel, [0x99, 0x98]])

        #expect(errorCode(damaged) == nil)
        #expect(try decoder.inspect(damaged, limits: DecodingLimits()).frameCount == 1)
    }
}
