import AlcedoCore

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
    /// ``firstFrame`` is known. The file, the metadata and the Huffman tables of libwebp are not included.
    ///
    /// - Parameters:
    ///   - options: The decoding options.
    ///   - isIncremental: Whether bytes are still arriving. In this case, the output of libwebp is copied, as for a
    ///     partial image, and an orientation that has not arrived may swap the sides.
    func byteCount(_ options: DecodingOptions, isIncremental: Bool) -> Int? {
        guard let canvas, let first = firstFrame else { return nil }
        let workingByteCount = ([first] + frames).map(\.workingByteCount).max() ?? 0
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
}

extension WebPFrame {
    /// The estimated maximum number of bytes that libwebp allocates to decode the frame, without Huffman tables, whose
    /// number the bitstream determines.
    var workingByteCount: Int {
        let pixels = area.size.pixelCount
        // Rows of macroblocks with their state, for two threads. Measured and rounded up.
        let rows = area.size.width * 256 + (512 << 10)
        if isLossless { return 4 * pixels + rows }
        return declaresAlpha ? 5 * pixels + rows : rows
    }
}
