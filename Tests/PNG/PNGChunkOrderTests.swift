import AlcedoCore
import AlcedoPNG
import Foundation
import TestSupport
import Testing

/// Animated files with invalid chunks, made from those of a valid file.
@Suite struct PNGChunkOrderTests {
    /// The chunks of `animation.png`: IHDR, acTL, fcTL, IDAT, fcTL, fdAT, fcTL, fdAT, IEND.
    private let chunks: [[UInt8]]

    init() throws {
        var rest = Array(try fixture("animation.png").dropFirst(8))
        var chunks: [[UInt8]] = []
        while rest.count >= 12 {
            let length = rest[..<4].reduce(0) { $0 << 8 | Int($1) } + 12
            chunks.append(Array(rest.prefix(length)))
            rest.removeFirst(length)
        }
        self.chunks = chunks
    }

    private func code(_ change: (inout [[UInt8]]) -> Void) -> ImageDecodingError.Code? {
        var changed = chunks
        change(&changed)
        return errorCode(PNGWriter.file(changed))
    }

    private func control(_ index: Int, _ change: (inout [UInt8]) -> Void) -> ImageDecodingError.Code? {
        code { chunks in
            var body = Array(chunks[index][8..<chunks[index].count - 4])
            change(&body)
            chunks[index] = PNGWriter.chunk(String(decoding: chunks[index][4..<8], as: UTF8.self), body)
        }
    }

    @Test func `missing, repeated or misplaced chunks are corrupt`() {
        #expect(code { _ in } == nil)
        #expect(code { $0.insert($0[1], at: 2) } == .corrupt)
        #expect(code { $0.remove(at: 2) } == .corrupt)
        #expect(code { $0.remove(at: 4) } == .corrupt)
        #expect(code { $0.remove(at: 5) } == .corrupt)
        #expect(code { $0.removeSubrange(6...7) } == .corrupt)
        #expect(code { $0.swapAt(5, 7) } == .corrupt)
        #expect(code { $0.insert($0[7], at: 8) } == .corrupt)
        #expect(code { $0.insert($0[3], at: 8) } == .corrupt)
        #expect(code { $0.removeLast() } == .truncated)
    }

    @Test func `an animation announced late or without frames is a still image`() throws {
        let zero = PNGWriter.chunk("acTL", [0, 0, 0, 0, 0, 0, 0, 0])
        for change: (inout [[UInt8]]) -> Void in [{ $0.swapAt(1, 3) }, { $0[1] = zero }, { $0.remove(at: 1) }] {
            var changed = chunks
            change(&changed)
            let image = try PNGDecoder().decode(PNGWriter.file(changed), options: DecodingOptions())
            #expect(image.frames == nil)
        }
    }

    @Test func `frames outside the canvas, or with unknown operations, are corrupt`() {
        #expect(control(4) { _ in } == nil)
        #expect(control(4) { $0[15] = 7 } == .corrupt)
        #expect(control(4) { $0[12] = 0xFF } == .corrupt)
        #expect(control(4) { $0[7] = 0 } == .corrupt)
        #expect(control(4) { $0[24] = 3 } == .corrupt)
        #expect(control(4) { $0[25] = 2 } == .corrupt)
        #expect(control(4) { $0.removeLast() } == .corrupt)
        #expect(control(2) { $0[7] = 12 } == .corrupt)
        #expect(control(1) { $0[3] = 4 } == .corrupt)
        #expect(control(1) { $0[3] = 2 } == .corrupt)
        #expect(control(1) { $0[0] = 0xFF } == .exceedsLimit)
    }

    @Test func `a denominator of zero means hundredths`() throws {
        var changed = chunks
        var body = Array(changed[4][8..<changed[4].count - 4])
        body.replaceSubrange(20..<24, with: [0, 7, 0, 0])
        changed[4] = PNGWriter.chunk("fcTL", body)

        let info = try PNGDecoder().inspect(PNGWriter.file(changed), limits: DecodingLimits())

        #expect(info.delays[1] == .milliseconds(70))
    }
}
