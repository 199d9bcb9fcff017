public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Draws another image, such as a watermark, over the image. Equals `.overlay(_:)` with one
    /// `ImageProcessors.Overlay`, whose parameters these are, and throws its errors.
    ///
    /// ```swift
    /// let request = ImageRequest(url: url, processors: [.overlay(watermark, at: .bottomRight, x: -8, y: -8)])
    /// ```
    ///
    /// - Parameters:
    ///   - overlay: The pixels of the overlay.
    ///   - anchor: The position of the overlay in the image. Default: `.center`.
    ///   - x: The number of pixels by which the overlay is moved to the right of the anchor; to the left if negative.
    ///     Default: 0.
    ///   - y: The number of pixels by which the overlay is moved down from the anchor; up if negative. Default: 0.
    ///   - scale: The size at which the overlay is drawn. Default: its own size.
    ///   - isTiled: Whether the overlay is repeated in both directions. Default: `false`.
    ///   - mode: The formula that combines the overlay's colors with those of the image. Default: `.normal`, which
    ///     covers them.
    ///   - compositing: The rule that tells which parts of the overlay and of the image the result shows. Default:
    ///     `.sourceOver`.
    ///   - opacity: A factor of the overlay's alpha, from 0 to 1. Default: 1.
    public static func overlay(
        _ overlay: PixelBuffer, at anchor: ImageProcessors.Anchor = .center, x: Int = 0, y: Int = 0,
        scale: ImageProcessors.Overlay.Scale = .factor(1), isTiled: Bool = false,
        mode: ImageProcessors.BlendMode = .normal,
        compositing: ImageProcessors.CompositingOperator = .sourceOver, opacity: Double = 1
    ) -> Self {
        .overlay([
            ImageProcessors.Overlay(
                overlay, at: anchor, x: x, y: y, scale: scale, isTiled: isTiled, mode: mode, compositing: compositing,
                opacity: opacity)
        ])
    }

    /// Draws other images over the image, one after another.
    ///
    /// ```swift
    /// let marks: [ImageProcessors.Overlay] = [
    ///     .init(watermark, isTiled: true, mode: .softLight, opacity: 0.3),
    ///     .init(image.pixels, at: .bottomRight, x: -16, y: -16, scale: .share(0.2)),
    /// ]
    /// let request = ImageRequest(url: url, processors: [.resize(width: 1024), .overlay(marks)])
    /// ```
    ///
    /// Works on every pixel format of all images, on stored samples, which are rounded after the last overlay. The
    /// parts of the overlays beyond the image's edges are clipped. The image keeps its size. It keeps its format and
    /// alpha mode, with two exceptions: under an overlay with a color other than gray, `gray8` becomes `rgbx8`, and an
    /// opaque image gets straight alpha, as `rgba8`, if an `ImageProcessors.CompositingOperator` can make it
    /// transparent. 16-bit formats change likewise. Transparent pixels of an overlay do not count, so that a gray image
    /// stays gray under a gray watermark in any format.
    ///
    /// Positions refer to the rows in memory, before ``/AlcedoCore/DecodedImage/orientation`` is applied. Put `.orient`
    /// first to position the overlays on the displayed image. Every frame of an animation is processed when it is
    /// requested, with overlays that are scaled once.
    ///
    /// Processing throws the errors described at the properties of `ImageProcessors.Overlay`, and `tooLarge` when
    /// there is no memory for the result.
    ///
    /// - Parameter overlays: The overlays, the lowest one first. An empty list returns images unchanged. The identifier
    ///   contains a digest of the pixels of each.
    /// - Complexity: O(*w* × *h* × overlays). Needs one new buffer for a whole image, and two rows of memory for
    ///   arriving rows, with one more for each overlay. A scaled overlay also needs memory for its visible part, or for
    ///   one tile.
    public static func overlay(_ overlays: [ImageProcessors.Overlay]) -> Self {
        Self(ImageProcessors.Overlays(overlays))
    }
}

extension ImageProcessors {
    /// The processor of `.overlay(_:)`.
    package struct Overlays: PointProcessing {
        /// The overlays, the lowest one first.
        package let overlays: [Overlay]
        package let identifier: String

        package init(_ overlays: [Overlay]) {
            self.overlays = overlays
            identifier = "overlay:" + overlays.map(\.identifier).joined(separator: "|")
        }

        package func operation(on header: PixelRowHeader) throws(ImageProcessingError) -> PointOperation? {
            operation(with: try placed(on: header.size), on: header)
        }

        package func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            let (size, placed) = (image.size, try placed(on: image.size))
            return try image.processingRows { header throws(ImageProcessingError) in
                guard header.size == size else { return try operation(on: header) }
                return operation(with: placed, on: header)
            }
        }

        package func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer {
            PointRows(operation, byteCount: byteCount, next: next)
        }

        /// Returns the bytes of the overlays for arriving rows. Invalid parameters are an error when the rows begin.
        private func byteCount(for header: PixelRowHeader) -> Int {
            overlays.reduce(0) { $0.addingClamped((try? OverlayPlan($1, on: header.size).byteCount) ?? 0) }
        }

        /// Returns the overlays that change images of this size.
        private func placed(on size: PixelSize) throws(ImageProcessingError) -> [PlacedOverlay] {
            var placed: [PlacedOverlay] = []
            for overlay in overlays {
                let plan = try OverlayPlan(overlay, on: size)
                if plan.draws { placed.append(try plan.filtered()) }
            }
            return placed
        }

        /// Returns the operation that draws the overlays, which were placed on images of the same size.
        private func operation(with placed: [PlacedOverlay], on header: PixelRowHeader) -> PointOperation? {
            guard !placed.isEmpty else { return nil }
            var (format, alphaMode) = (header.format, header.alphaMode)
            if header.format.isGray, !placed.allSatisfy(\.overlay.isGray) { format = format.opaqueColored }
            if alphaMode == .opaque, !placed.allSatisfy(\.overlay.compositing.keepsOpaque) {
                (format, alphaMode) = (format.colored, .straight)
            }
            let rows = placed.map(OverlayRows.init)
            return PointOperation(on: header, format: format, alphaMode: alphaMode) { pixels, y in
                for overlay in rows { overlay.draw(on: pixels, y) }
            }
        }
    }
}
