/// The pixels of a thumbnail that a file contains. Previews show them, enlarged, where the image is not decoded yet.
package struct PreviewBackground {
    /// The maximum width and height of a thumbnail.
    package static let maximumSide = 1_024

    private let thumbnail: PixelBuffer

    /// Creates a background from the pixels of a thumbnail, in the orientation of the stored rows. Returns nil for
    /// pixels that are not opaque, or have more than 8 bits per sample.
    package init?(_ thumbnail: PixelBuffer) {
        guard thumbnail.alphaMode == .opaque || !thumbnail.format.hasAlpha, !thumbnail.format.isDeep else { return nil }
        self.thumbnail = thumbnail
    }

    /// Whether a thumbnail may stand for an image: it is not larger, and has the same aspect ratio within one of its
    /// pixels. The thumbnails of some cameras have black bars, or show the image before it was cropped.
    package static func isUsable(_ thumbnail: PixelSize, for image: PixelSize) -> Bool {
        guard thumbnail.isPositive, thumbnail.width <= maximumSide, thumbnail.height <= maximumSide,
            thumbnail.width <= image.width, thumbnail.height <= image.height, image.pixelCount < Int.max / maximumSide
        else { return false }
        let difference = abs(thumbnail.width * image.height - thumbnail.height * image.width)
        return difference <= max(image.width, image.height)
    }

    /// Returns opaque pixels of a size with the enlarged thumbnail, or nil when there is no memory.
    package func pixels(_ size: PixelSize) -> PixelBuffer? {
        guard var pixels = PixelBuffer(size: size, format: thumbnail.format, alphaMode: .opaque) else { return nil }
        return fill(&pixels, from: 0) ? pixels : nil
    }

    /// Fills the rows from an index on with the enlarged thumbnail, by linear interpolation. Returns false, and changes
    /// nothing, if the pixels have another format.
    ///
    /// - Complexity: O(pixels of the rows). Memory: two rows.
    @discardableResult
    package func fill(_ pixels: inout PixelBuffer, from first: Int) -> Bool {
        guard pixels.format.isGray == thumbnail.format.isGray, !pixels.format.isDeep else { return false }
        let (size, stride) = (pixels.size, pixels.bytesPerRow)
        let columns = (0..<size.width).map { Position($0, of: size.width, in: thumbnail.width) }
        // Adjacent rows usually lie between the same rows of the thumbnail.
        var upper = (index: 0, samples: wideRow(0, columns))
        var lower = upper
        pixels.withUnsafeMutableBytes { memory in
            for y in first..<max(first, size.height) {
                let position = Position(y, of: size.height, in: thumbnail.height)
                if position.index == lower.index { upper = lower }
                if position.index != upper.index { upper = (position.index, wideRow(position.index, columns)) }
                if position.next != lower.index { lower = (position.next, wideRow(position.next, columns)) }
                let end = y * stride + upper.samples.count
                let row = UnsafeMutableRawBufferPointer(rebasing: memory[y * stride..<end])
                Self.mix(upper.samples, lower.samples, position.weight, into: row)
            }
        }
        return true
    }

    /// Returns a row of the thumbnail with the width of the image.
    private func wideRow(_ y: Int, _ columns: [Position]) -> [UInt8] {
        let sampleCount = thumbnail.format.bytesPerPixel
        return thumbnail.row(y).withUnsafeBytes { row in
            [UInt8](unsafeUninitializedCapacity: columns.count * sampleCount) { result, count in
                var offset = 0
                for column in columns {
                    let (left, right) = (column.index * sampleCount, column.next * sampleCount)
                    for sample in 0..<sampleCount {
                        result[offset] = Self.mix(row[left + sample], row[right + sample], column.weight)
                        offset += 1
                    }
                }
                count = offset
            }
        }
    }

    private static func mix(
        _ upper: [UInt8], _ lower: [UInt8], _ weight: UInt16, into row: UnsafeMutableRawBufferPointer
    ) {
        upper.withUnsafeBufferPointer { upper in
            lower.withUnsafeBufferPointer { lower in
                for index in 0..<min(row.count, upper.count, lower.count) {
                    row[index] = mix(upper[index], lower[index], weight)
                }
            }
        }
    }

    /// The weight of the second sample is from 0 to 256, so the sum fits into 16 bits.
    @inline(__always)
    private static func mix(_ first: UInt8, _ second: UInt8, _ weight: UInt16) -> UInt8 {
        UInt8(truncatingIfNeeded: (UInt16(first) &* (256 &- weight) &+ UInt16(second) &* weight &+ 128) >> 8)
    }

    /// The two samples between which the center of a pixel lies, and the weight of the second one out of 256.
    private struct Position {
        let index: Int
        let next: Int
        let weight: UInt16

        /// Creates the position of pixel `index` out of `count` in a row or column of samples.
        init(_ index: Int, of count: Int, in sampleCount: Int) {
            let center = (Double(index) + 0.5) * Double(sampleCount) / Double(count) - 0.5
            let clamped = min(max(center, 0), Double(sampleCount - 1))
            self.index = Int(clamped)
            next = min(self.index + 1, sampleCount - 1)
            weight = UInt16(((clamped - Double(self.index)) * 256).rounded())
        }
    }
}
