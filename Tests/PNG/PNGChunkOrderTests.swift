import AlcedoCore
import AlcedoPNG
import AlcedoTesting
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

    /// Returns the number of frames of the changed file, or nil when it is the still image. Checks that damage is
    /// reported, that strict decoding gives the same, and that the inspected number is the same.
    private func frameCount(_ change: (inout [[UInt8]]) -> Void) throws -> Int? {
        var changed = chunks
        change(&changed)
        let file = PNGWriter.file(changed)
        let image = try PNGDecoder().decode(file, options: DecodingOptions(tolerance: .harmless))
        let whole = try PNGDecoder().decode(PNGWriter.file(chunks), options: DecodingOptions())
        #expect(image.pixels == whole.pixels)
        #expect((image.damage != nil || changed == chunks))
        let info = try PNGDecoder().inspect(file, limits: DecodingLimits())
        #expect(info.frameCount == image.frames?.frameCount ?? 1)
        #expect(info.delays.count == image.frames?.frameCount ?? 0)
        return image.frames?.frameCount
    }

    private func control(_ index: Int, _ change: (inout [UInt8]) -> Void) throws -> Int? {
        try frameCount { chunks in
            var body = Array(chunks[index][8..<chunks[index].count - 4])
            change(&body)
            chunks[index] = PNGWriter.chunk(String(decoding: chunks[index][4..<8], as: UTF8.self), body)
        }
    }

    @Test func `missing, repeated or misplaced control chunks give the still image`() throws {
        #expect(try frameCount { _ in } == 3)
        #expect(try frameCount { $0.insert($0[1], at: 2) } == nil)
        #expect(try frameCount { $0.remove(at: 2) } == nil)
        #expect(try frameCount { $0.remove(at: 4) } == nil)
        #expect(try frameCount { $0.removeSubrange(6...7) } == nil)
        #expect(try frameCount { $0.swapAt(5, 7) } == nil)
        #expect(try frameCount { $0.insert($0[7], at: 8) } == nil)
    }

    @Test func `a broken frame ends the animation before it`() throws {
        // The data of the third frame is cut off.
        #expect(
            try frameCount {
                $0[7].removeLast(20); $0.removeLast()
            } == 2)
        #expect(try frameCount { $0.insert($0[3], at: 8) } == 2)
        #expect(try frameCount { $0.removeLast() } == 3)
    }

    @Test func `an animation announced late or without frames is a still image, which is reported`() throws {
        let zero = PNGWriter.chunk("acTL", [0, 0, 0, 0, 0, 0, 0, 0])
        let short = PNGWriter.chunk("acTL", [0, 0, 0, 3])
        let changes: [(inout [[UInt8]]) -> Void] = [
            { $0.swapAt(1, 3) }, { $0[1] = zero }, { $0[1] = short }, { $0.remove(at: 1) },
            { $0.removeSubrange(1...2) },
        ]
        for change in changes {
            var changed = chunks
            change(&changed)
            let file = PNGWriter.file(changed)
            let image = try PNGDecoder().decode(file, options: DecodingOptions(tolerance: .harmless))
            #expect(image.frames == nil)
            #expect(image.damage?.kind == .harmless)
            #expect(image.damage?.message.contains("acTL") == true)
            try DecoderChecks(PNGDecoder()).checkRows(file)
            try DecoderChecks(PNGDecoder()).checkPieces(file)
            let pieces = PNGDecoder().makeIncrementalDecoder(options: DecodingOptions())
            for byte in file { try pieces.append(Data([byte])) }
            #expect(try pieces.finish().damage == image.damage)
        }
    }

    @Test func `frames outside the canvas, or with unknown operations, give the still image`() throws {
        for index in [4, 6] {
            #expect(try control(index) { _ in } == 3)
            #expect(try control(index) { $0[15] = 7 } == nil)
            #expect(try control(index) { $0[12] = 0xFF } == nil)
            #expect(try control(index) { $0[7] = 0 } == nil)
            #expect(try control(index) { $0[24] = 3 } == nil)
            #expect(try control(index) { $0[25] = 2 } == nil)
        }
    }

    @Test func `a frame without data chunks, and a wrong checksum of a control chunk, give the still image`() throws {
        for index in [5, 7] { #expect(try frameCount { $0.remove(at: index) } == nil) }
        for index in [1, 2, 4, 6] { #expect(try frameCount { $0[index][$0[index].count - 1] ^= 1 } == nil) }
    }

    @Test func `a wrong number of frames, sequence number, length or first frame gives the still image`() throws {
        for index in [4, 6] { #expect(try control(index) { $0.removeLast() } == nil) }
        for index in [4, 6] { #expect(try control(index) { $0.append(0) } == nil) }
        for index in [2, 4, 5, 6, 7] { #expect(try control(index) { $0[3] = 9 } == nil) }
        for index in [5, 7] { #expect(try control(index) { $0 = [0, 0] } == nil) }
        #expect(try control(2) { $0[7] = 12 } == nil)
        for count: UInt8 in [1, 2, 4] { #expect(try control(1) { $0[3] = count } == nil) }
        #expect(try control(1) { $0[0] = 0xFF } == nil)
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
