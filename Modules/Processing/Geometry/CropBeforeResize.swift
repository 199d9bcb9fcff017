package import AlcedoCore

extension ImageProcessors {
    /// A crop of an image of known size, and the resize after it, for an image that a decoder may reduce.
    ///
    /// A crop alone needs the full size, because its rectangle is in pixels. With the resize after it, it needs only as
    /// many samples as the resize of the part needs. The result equals that of the crop followed by the resize if the
    /// image has its full size. In a reduced image, the part begins and ends between two samples; the resize filters it
    /// at its exact position, and the samples at its edges count by their share inside.
    package struct CropBeforeResize: FramewiseProcessing {
        private var resize: Resize
        /// The size of the full image, and the part to keep of it.
        private let full: PixelSize
        private let part: PixelRect
        package let identifier: String
        /// The size of the whole image at which the part has the size that the resize needs.
        package let decodingTarget: TargetSize?

        /// Returns nil if the full size is needed.
        private init?(_ crop: Crop, _ resize: Resize, of full: PixelSize) {
            // An invalid rectangle is an error of the crop itself. No buffer has a longer side.
            guard !crop.isSmart, max(full.width, full.height) <= Int(Int32.max), let target = resize.decodingTarget,
                let part = try? crop.rect(in: full)
            else { return nil }
            let needed = part.size.scaled(to: target.size, mode: target.mode)
            guard needed != part.size else { return nil }
            (self.resize, self.full, self.part) = (resize, full, part)
            self.resize.isPart = true
            identifier = Composition([crop, resize]).identifier
            let side = { (full: Int, needed: Int, part: Int) in
                min(full, Int((Double(full) * Double(needed) / Double(part)).rounded(.up)))
            }
            decodingTarget = TargetSize(
                width: side(full.width, needed.width, part.size.width),
                height: side(full.height, needed.height, part.size.height), mode: .fill)
        }

        /// Returns the processors with a crop and a resize at their beginning joined, if the image can then be reduced
        /// while it is decoded.
        ///
        /// - Parameters:
        ///   - processors: The processors of an image, in order.
        ///   - size: The size of the full image, in the orientation of the rows that are processed.
        package static func joined(
            in processors: [any ImageProcessing], of size: PixelSize
        ) -> [any ImageProcessing] {
            let parts = processors.flatMap(\.components)
            // Only these two know the rectangle and the size. Processors of other types, also of apps, stay in place.
            guard parts.count > 1, let crop = parts[0] as? Crop, let resize = parts[1] as? Resize,
                let joined = Self(crop, resize, of: size)
            else { return processors }
            return [joined] + parts.dropFirst(2)
        }

        func processed(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            let (rect, reduction) = samples(of: image.rowHeader)
            var cropped = image.still(try Crop.copy(rect, of: image.pixels))
            cropped.reduction = reduction
            return try resize.processed(cropped)
        }

        package func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer {
            RowCropper(next: resize.rows(into: next)) { samples(of: $0) }
        }

        /// Returns the samples that show the part, and the position of the part in them.
        private func samples(of header: PixelRowHeader) -> RowCropper.Part {
            guard header.reduction != nil || header.size != full else { return (part, nil) }
            let position = header.reduction ?? ImageReduction(of: full, exactly: header.size)
            let (x, width) = Self.samples(
                part.x, part.size.width, of: position.fullSize.width, at: position.x, position.width, header.size.width)
            let (y, height) = Self.samples(
                part.y, part.size.height, of: position.fullSize.height, at: position.y, position.height,
                header.size.height)
            let rect = PixelRect(
                x: x.range.lowerBound, y: y.range.lowerBound, width: x.range.count, height: y.range.count)
            return (rect, ImageReduction(of: part.size, x: x.start, y: y.start, width: width, height: height))
        }

        /// Returns the samples along one side that show a part of it, and the position of the part in them.
        ///
        /// - Parameters:
        ///   - first: The first pixel of the part.
        ///   - count: The number of pixels of the part.
        ///   - full: The number of pixels of the side.
        ///   - start: The position of the side in the samples.
        ///   - length: The length of the side in samples.
        ///   - sampleCount: The number of samples.
        private static func samples(
            _ first: Int, _ count: Int, of full: Int, at start: Double, _ length: Double, _ sampleCount: Int
        ) -> (samples: (range: Range<Int>, start: Double), length: Double) {
            let scale = length / Double(full)
            let (low, partLength) = (start + Double(first) * scale, Double(count) * scale)
            // A sum of fractions can lie a little beyond the edge of a sample.
            let tolerance = 1e-6
            let lower = min(sampleCount - 1, max(0, Int(low + tolerance)))
            let upper = min(sampleCount, max(lower + 1, Int((low + partLength - tolerance).rounded(.up))))
            return ((lower..<upper, low - Double(lower)), partLength)
        }
    }
}
