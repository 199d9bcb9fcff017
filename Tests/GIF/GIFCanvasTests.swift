import TestSupport
import AlcedoCore
import AlcedoGIF
import Foundation
import Testing

@Suite struct GIFCanvasTests {
    private let red: [UInt8] = [255, 0, 0, 255]
    private let green: [UInt8] = [0, 255, 0, 255]
    private let clear: [UInt8] = [0, 0, 0, 0]
    private let palette: [GIFWriter.Color] = [(255, 0, 0), (0, 255, 0)]

    private func decode(width: Int, height: Int, _ blocks: [[UInt8]]) throws -> PixelBuffer {
        let file = GIFWriter.file(width: width, height: height, palette: palette, blocks)
        return try GIFDecoder().decode(file, options: DecodingOptions()).pixels
    }

    @Test func `a frame's own palette replaces the file's`() throws {
        let frame = GIFWriter.image(width: 2, height: 1, palette: [(1, 2, 3), (4, 5, 6)], indices: [0, 1])

        let pixels = try decode(width: 2, height: 1, [frame])

        #expect(pixels.tightBytes == [1, 2, 3, 255, 4, 5, 6, 255])
    }

    @Test func `canvas outside the frame is transparent`() throws {
        let frame = GIFWriter.image(left: 1, top: 1, width: 2, height: 1, indices: [0, 1])

        let pixels = try decode(width: 4, height: 3, [frame])

        let row = clear + red + green + clear
        let empty = [UInt8](repeating: 0, count: 16)
        #expect(pixels.tightBytes == empty + row + empty)
        #expect(pixels.alphaMode == .straight)
    }

    @Test func `a frame is clipped to the canvas`() throws {
        let frame = GIFWriter.image(left: 1, top: 1, width: 3, height: 2, indices: [0, 1, 1, 1, 1, 1])

        let pixels = try decode(width: 2, height: 2, [frame])

        #expect(pixels.tightBytes == clear + clear + clear + red)
    }

    @Test func `a frame outside the canvas leaves it empty`() throws {
        let frame = GIFWriter.image(left: 60_000, top: 60_000, width: 2, height: 1, indices: [0, 1])

        #expect(try decode(width: 1, height: 1, [frame]).tightBytes == clear)
    }

    @Test func `a frame larger than the canvas covers it`() throws {
        let frame = GIFWriter.image(width: 3, height: 3, indices: [0, 1, 1, 1, 1, 1, 1, 1, 1])

        let pixels = try decode(width: 2, height: 1, [frame])

        #expect(pixels.tightBytes == red + green)
        #expect(pixels.alphaMode == .opaque)
    }

    @Test(arguments: [1, 2, 3, 4, 5, 8, 9, 16, 17])
    func `interlaced rows are placed correctly`(height: Int) throws {
        let stored = [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0.0, to: height, by: $0.1)) }
        let gray = (0..<32).map { (UInt8($0), UInt8($0), UInt8($0)) }
        let frame = GIFWriter.image(
            width: 1, height: height, palette: gray, isInterlaced: true, indices: stored.map { UInt8($0) })

        let pixels = try decode(width: 1, height: height, [frame])

        #expect((0..<height).map { Int(pixels.rgba(0, $0)[0]) } == Array(0..<height))
    }

    @Test func `an index beyond the palette is opaque black`() throws {
        let frame = GIFWriter.image(width: 2, height: 1, indices: [0, 99])

        #expect(try decode(width: 2, height: 1, [frame]).tightBytes == red + [0, 0, 0, 255])
    }

    @Test func `a plain text block consumes the transparency before it`() throws {
        let frame = GIFWriter.image(width: 1, height: 1, indices: [0])
        let control = GIFWriter.control(transparentIndex: 0)

        #expect(try decode(width: 1, height: 1, [control, frame]).tightBytes == clear)
        #expect(try decode(width: 1, height: 1, [control, GIFWriter.plainText, frame]).tightBytes == red)
    }

    @Test func `alpha is reported for areas that a disposed frame leaves empty`() throws {
        let whole = GIFWriter.image(width: 2, height: 1, indices: [0, 0])
        let part = GIFWriter.image(width: 1, height: 1, indices: [0])
        let clearing = GIFWriter.control(disposal: 2)
        func hasAlpha(_ blocks: [[UInt8]]) throws -> Bool {
            let file = GIFWriter.file(width: 2, height: 1, palette: palette, blocks)
            return try GIFDecoder().inspect(file, limits: DecodingLimits()).hasAlpha
        }

        #expect(try hasAlpha([part]))
        #expect(try !hasAlpha([whole, part]))
        #expect(try hasAlpha([clearing, whole, part]))
        #expect(try !hasAlpha([whole, clearing, part, part]))
    }
}
