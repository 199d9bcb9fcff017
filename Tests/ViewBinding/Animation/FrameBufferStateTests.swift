import AlcedoCore
import Testing

@testable import AlcedoViewBinding

@Suite struct FrameBufferStateTests {
    private var state = FrameBufferState(frameCount: 10, first: DecodedImage.gray(0).pixels)

    /// Decodes what the state requests until it requests nothing, which must end.
    private mutating func decodeAll(capacity: Int) -> [Int] {
        var decoded: [Int] = []
        while let frame = state.beginDecoding(capacity: capacity) {
            _ = state.endDecoding(frame, .success(DecodedImage.gray(UInt8(frame)).pixels), capacity: capacity)
            decoded.append(frame)
            if decoded.count > 100 { break }
        }
        return decoded
    }

    private mutating func request(_ frame: Int, isShown: Bool = false, remaining: Int = 10, viewer: Int = 1) -> UInt8? {
        state.request(frame, isShown: isShown, remaining: remaining, viewer: viewer)?.withUnsafeBytes { $0[0] }
    }

    @Test mutating func `the first frame is always available`() {
        #expect(request(0) == 0)
        #expect(state.storedCount == 0)
    }

    @Test mutating func `frames are decoded in display order, a few ahead`() {
        _ = request(0, isShown: true)
        #expect(decodeAll(capacity: 100) == [1, 2, 3, 4])
        #expect(request(1) == 1)
        #expect(decodeAll(capacity: 100) == [5])
    }

    @Test(arguments: [
        (PlaybackMode.reverse, 0, [9, 8, 7, 6, 5]), (.bounce, 7, [7, 8, 9]), (.reversedBounce, 8, [1, 2, 3]),
    ])
    mutating func `frames are decoded in the order of the mode`(mode: PlaybackMode, step: Int, expected: [Int]) {
        _ = state.request(step, of: mode, isShown: false, remaining: 20, viewer: 1)
        #expect(decodeAll(capacity: 100) == expected)
    }

    @Test mutating func `a late frame of a bounce is replaced by one before it in the same order`() {
        _ = request(0, isShown: true)
        _ = decodeAll(capacity: 100)
        // Steps 14, 15 and 16 show the frames 4, 3 and 2.
        #expect(state.latest(before: 16, of: .bounce, after: 12)?.step == 15)
        #expect(state.latest(before: 15, of: .bounce, after: 12)?.step == 14)
        #expect(state.latest(before: 14, of: .bounce, after: 12) == nil)
    }

    @Test mutating func `one frame is decoded at a time`() {
        _ = request(5)
        #expect(state.beginDecoding(capacity: 9) == 5)
        #expect(state.beginDecoding(capacity: 9) == nil)
        #expect(state.isDecoding)
    }

    @Test mutating func `an animation that fits in memory is decoded once`() {
        var decoded: [Int] = []
        for tick in 0..<50 {
            _ = request(tick % 10)
            decoded += decodeAll(capacity: 9)
        }
        #expect(decoded == Array(1...9))
        #expect(state.storedCount == 9)
    }

    @Test mutating func `when frames do not fit, displayed ones are removed`() {
        for frame in 0..<8 {
            _ = request(frame)
            _ = decodeAll(capacity: 3)
            #expect(state.storedCount <= 3)
        }
        #expect(request(8) == 8)
        #expect(request(9) == 9)
        #expect(request(6) == nil)
    }

    @Test mutating func `no frame is decoded after the end`() {
        _ = request(8, isShown: true, remaining: 1)
        #expect(decodeAll(capacity: 9) == [9])
    }

    @Test(arguments: [1, 2, 3, 5])
    mutating func `viewers at different positions all receive their frames, and decoding ends`(capacity: Int) {
        for (viewer, frame) in [(1, 2), (2, 5), (3, 8)] { _ = request(frame, viewer: viewer) }
        let decoded = decodeAll(capacity: capacity)
        #expect(decoded.count < 20)
        #expect(Set(decoded).isSuperset(of: [2, 5, 8]))

        for (viewer, frame) in [(1, 2), (2, 5), (3, 8)] {
            #expect(request(frame, isShown: true, viewer: viewer) == UInt8(frame))
        }
        #expect(decodeAll(capacity: capacity).count < 20)
    }

    @Test mutating func `the last available frame replaces a missing one`() {
        _ = request(1)
        _ = decodeAll(capacity: 3)

        #expect(state.latest(before: 6, after: 1)?.step == 3)
        #expect(state.latest(before: 6, after: 3) == nil)
        #expect(state.latest(before: 2, after: 7)?.step == 1)
    }

    @Test mutating func `waiting viewers are notified once`() {
        _ = request(1)
        _ = request(1, isShown: true, viewer: 2)
        #expect(state.beginDecoding(capacity: 9) == 1)
        #expect(state.endDecoding(1, .success(DecodedImage.gray(1).pixels), capacity: 9) == [1])
        #expect(state.beginDecoding(capacity: 9) == 2)
        #expect(state.endDecoding(2, .success(DecodedImage.gray(2).pixels), capacity: 9) == [])
    }

    @Test mutating func `a frame that cannot be decoded is not decoded again`() {
        _ = request(1)
        #expect(state.beginDecoding(capacity: 9) == 1)
        #expect(state.endDecoding(1, .failure(LoadFailure()), capacity: 9) == [1])

        #expect(state.failure is LoadFailure)
        #expect(request(1) == nil)
        #expect(decodeAll(capacity: 9) == [2, 3, 4, 5])
    }

    @Test mutating func `without viewers no frame is kept or decoded`() {
        _ = request(1)
        #expect(state.beginDecoding(capacity: 9) == 1)
        state.remove(viewer: 1)

        #expect(state.endDecoding(1, .success(DecodedImage.gray(1).pixels), capacity: 9) == [])
        #expect(state.storedCount == 0)
        #expect(state.beginDecoding(capacity: 9) == nil)
    }
}
