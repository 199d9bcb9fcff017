import AlcedoCore
import AlcedoRuntime
import AlcedoTesting
import Dispatch

@testable import AlcedoViewBinding

/// An animation of gray pixels with their frame's number, which can be held back.
final class FakeFrames: ImageFrameSource {
    private let delays: [Duration]
    private let broken: Set<Int>
    private let end: Int
    private let shownCount: Locked<Int>
    private let gate: DispatchSemaphore?
    private let requested = Watched<[Int]>([])

    let playCount: Int?

    /// - Parameters:
    ///   - end: The index of a damaged frame that ends the animation.
    ///   - isHeld: Whether each frame waits for ``release(_:)``.
    init(
        delays: [Duration], playCount: Int? = nil, broken: Set<Int> = [], end: Int = .max, isHeld: Bool = false
    ) {
        self.delays = delays
        self.end = end
        shownCount = Locked(delays.count)
        self.playCount = playCount
        self.broken = broken
        gate = isHeld ? DispatchSemaphore(value: 0) : nil
    }

    /// Frames of 100 ms.
    convenience init(
        count: Int, playCount: Int? = nil, broken: Set<Int> = [], end: Int = .max, isHeld: Bool = false
    ) {
        self.init(
            delays: Array(repeating: .milliseconds(100), count: count), playCount: playCount, broken: broken, end: end,
            isHeld: isHeld)
    }

    let canvasSize = PixelSize(width: 1, height: 1)
    var frameCount: Int { shownCount.withLock { $0 } }
    var cost: Int { 0 }
    /// The decoded frames, in order.
    var decoded: [Int] { requested.value }
    var image: DecodedImage { DecodedImage(pixels: DecodedImage.gray(0).pixels, frames: self) }

    func delay(at index: Int) -> Duration { delays[index] }

    func rawDelay(at index: Int) -> Duration { delays[index] }

    func frame(at index: Int) throws -> PixelBuffer {
        gate?.wait()
        requested.update { $0.append(index) }
        if index >= end { shownCount.withLock { $0 = end } }
        if broken.contains(index) || index >= end { throw ImageDecodingError(.corrupt, "frame \(index) is damaged") }
        return DecodedImage.gray(UInt8(truncatingIfNeeded: index)).pixels
    }

    /// Returns once a frame is being decoded.
    func waitForDecode() async throws { try await requested.waitUntil { !$0.isEmpty } }

    func release(_ count: Int = 1) { for _ in 0..<count { gate?.signal() } }
}

extension ImageAnimator {
    /// Returns the value of the frame to display at a time.
    func shows(at time: Duration) -> UInt8? { advance(to: time)?.gray }

    /// Returns once nothing is being decoded.
    func decodingEnds() async {
        while let decoding { await decoding.value }
    }
}

extension Duration {
    static func ms(_ count: Int) -> Duration { .milliseconds(count) }
}
