import AlcedoCore
import TestSupport
import Testing

@testable import AlcedoViewBinding

/// Random viewers at random positions with random memory limits: each receives its frame, decoding ends, and the limit
/// holds.
@Suite(.timeLimit(.minutes(10))) struct FrameBufferRandomTests {
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `every viewer receives its frame within the memory limit`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let count = Int.random(in: 2...12, using: &random)
        var state = FrameBufferState(frameCount: count, first: DecodedImage.gray(0).pixels)
        let viewers = (0..<Int.random(in: 1...5, using: &random)).map { _ in state.makeViewer() }
        var shown = Dictionary(uniqueKeysWithValues: viewers.map { ($0, 0) })
        var capacity = Int.random(in: 1...14, using: &random)

        for _ in 0..<400 {
            let viewer = viewers[Int.random(in: 0..<viewers.count, using: &random)]
            switch Int.random(in: 0..<12, using: &random) {
            case 0: capacity = Int.random(in: 1...14, using: &random)
            case 1: state.trim(to: capacity)
            case 2: state.removeAll()
            case 3: state.remove(viewer: viewer)
            default:
                // Mostly forward, sometimes a seek.
                let step = Int.random(in: 0..<5, using: &random) == 0 ? Int.random(in: 0..<count, using: &random) : 1
                let frame = ((shown[viewer] ?? 0) + step) % count
                let found = state.request(frame, isShown: frame == shown[viewer], remaining: count, viewer: viewer)
                var decoded = 0
                while let next = state.beginDecoding(capacity: capacity) {
                    decoded += 1
                    let pixels = DecodedImage.gray(UInt8(next)).pixels
                    _ = state.endDecoding(next, .success(pixels), capacity: capacity)
                    try #require(decoded <= 2 * count)
                }
                let now = state.request(frame, isShown: frame == shown[viewer], remaining: count, viewer: viewer)
                #expect(frame == shown[viewer] || now?.withUnsafeBytes { $0[0] } == UInt8(frame))
                #expect(found == nil || frame == 0 || now != nil || frame == shown[viewer])
                shown[viewer] = frame
                _ = state.request(frame, isShown: true, remaining: count, viewer: viewer)
                #expect(state.storedCount <= max(capacity, viewers.count))
            }
        }
    }
}
