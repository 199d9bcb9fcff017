/// By how much a picture may be averaged down before it meets a target, as whole numbers of pixels.
package struct BoxReduction: Sendable, Hashable {
    /// Source pixels, in each direction, that become one.
    package let factor: Int

    /// The largest factor that leaves both sides at least as long as `target` needs.
    ///
    /// - Parameters:
    ///   - stored: The size of the rows that will be averaged.
    ///   - orientation: How those rows relate to the upright picture that `target` speaks of.
    package init(from stored: PixelSize, orientation: ImageOrientation = .up, towards target: TargetSize?) {
        guard let target, stored.isPositive, target.size.isPositive else {
            factor = 1
            return
        }
        let box = orientation.swapsSides ? target.size.transposed : target.size
        let needed = stored.scaled(to: box, mode: target.mode)
        factor = max(1, min(stored.width / needed.width, stored.height / needed.height, Self.largestFactor))
    }

    /// 4096² samples of 16 bits times alpha fit the sums of ``BoxReducer``, with room.
    package static let largestFactor = 4096

    /// The size that `size` becomes; the last column and row are averages of the pixels there are.
    package func size(of size: PixelSize) -> PixelSize {
        PixelSize(width: (size.width - 1) / factor + 1, height: (size.height - 1) / factor + 1)
    }
}
