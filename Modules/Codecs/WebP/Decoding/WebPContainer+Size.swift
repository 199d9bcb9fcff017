import AlcedoCore
import AlcedoRuntime

extension WebPContainer {
    /// Returns the size, in stored orientation, to which a still image is decoded for a target. EXIF that arrives later
    /// can change it. ``canvas`` must be known.
    func size(for target: TargetSize?) -> PixelSize { size(for: target, isOnItsSide: orientation.swapsSides) }

    private func size(for target: TargetSize?, isOnItsSide: Bool) -> PixelSize {
        let canvas = canvas ?? PixelSize(width: 1, height: 1)
        guard let target else { return canvas }
        return canvas.scaled(to: isOnItsSide ? target.size.transposed : target.size, mode: target.mode)
    }

    /// Returns the estimated maximum number of bytes for decoding the still image or the first frame, or `nil` before
    /// ``firstFrame`` is known. The file and the metadata are not included.
    ///
    /// - Parameters:
    ///   - options: The decoding options.
    ///   - tables: The number of bytes of the prefix codes of a frame: see ``WebPFrame/tableByteCount(in:)``.
    ///   - isIncremental: Whether bytes are still arriving. In this case, the output of libwebp is copied, as for a
    ///     partial image, and an orientation that has not arrived may swap the sides.
    func byteCount(_ options: DecodingOptions, tables: Int, isIncremental: Bool) -> Int? {
        guard let canvas, let first = firstFrame else { return nil }
        let workingByteCount = (([first] + frames).map(\.workingByteCount).max() ?? 0) + tables
        let mayReorient = options.appliesOrientation && (orientation != .up || isIncremental && !isOrientationKnown)
        if isAnimated {
            // Rows are padded, so an image with swapped sides can need more bytes.
            let images = (mayReorient ? [canvas, canvas.transposed] : [canvas]).map { size in
                PixelBuffer.byteCount(size: size, format: .rgba8) ?? 0
            }
            return 3 * images[0] + (images.max() ?? 0) + workingByteCount
        }
        let sizes =
            isIncremental && !isOrientationKnown
            ? [false, true].map { size(for: options.averagingTarget, isOnItsSide: $0) }
            : [size(for: options.averagingTarget)]
        let output = sizes.flatMap { mayReorient ? [$0, $0.transposed] : [$0] }.map { size in
            PixelBuffer.byteCount(size: size, format: .rgba8) ?? 0
        }
        let count =
            1 + (isIncremental || options.allowsPartial ? 1 : 0) + (mayReorient ? 1 : 0)
            + (options.alphaMode == .premultiplied ? 1 : 0)
        let isAveraged = sizes.contains { WebPAverager.averages(first, to: $0) }
        let planes = isAveraged ? WebPAverager.planeByteCount(first) : 0
        return count * (output.max() ?? 0) + workingByteCount + planes
    }

    /// Returns the maximum number of bytes of the prefix codes of a frame that the options include. Frames whose codes
    /// are incomplete do not count.
    func tableByteCount(_ options: DecodingOptions, in bytes: UnsafeBufferPointer<UInt8>) -> Int {
        let first = firstFrame.map { [$0] } ?? []
        let included = options.includesAnimation ? first + frames.dropFirst() : first
        return included.compactMap { $0.tableByteCount(in: bytes) }.max() ?? 0
    }
}

extension WebPFrame {
    /// Returns the maximum number of bytes of the tables that libwebp makes of the prefix codes of the frame, whose
    /// pixels or alpha are lossless, or nil when more bytes are needed. 0 for other frames, and for a complete
    /// bitstream that ends before them.
    func tableByteCount(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard isLossless || opaqueBitstream != nil else { return 0 }
        // The header of the chunk, and then the signature and the size of pixels, or the method of alpha.
        let start = bitstream.lowerBound + 8
        let pixels = start + (isLossless ? 5 : 1)
        let end = opaqueBitstream?.lowerBound ?? bitstream.upperBound
        let received = min(end, bytes.count)
        guard pixels <= received else { return end <= bytes.count ? 0 : nil }
        guard isLossless || bytes[start] & 3 == 1 else { return 0 }
        let stream = UnsafeBufferPointer(rebasing: bytes[pixels..<received])
        return LosslessCodeGroups.byteCount(of: area.size, in: stream) ?? (end <= bytes.count ? 0 : nil)
    }

    /// Throws `exceedsLimit` when the tables alone hold more bytes than the limit, and more than those of ordinary
    /// images do.
    static func check(tables byteCount: Int, _ limits: DecodingLimits) throws(ImageDecodingError) {
        guard byteCount > max(limits.maximumByteCount, 1 << 20) else { return }
        throw ImageDecodingError(
            .exceedsLimit,
            "WebP: the prefix codes need \(byteCount.byteCountText); the limit is "
                + "\(limits.maximumByteCount.byteCountText) (DecodingLimits.maximumByteCount)")
    }

    /// The estimated maximum number of bytes that libwebp allocates to decode the frame, without the tables of prefix
    /// codes, whose number the bitstream determines.
    var workingByteCount: Int {
        let pixels = area.size.pixelCount
        // Rows of macroblocks with their state, for two threads. Measured and rounded up.
        let rows = area.size.width * 256 + (512 << 10)
        if isLossless { return 4 * pixels + rows }
        return declaresAlpha ? 5 * pixels + rows : rows
    }
}
