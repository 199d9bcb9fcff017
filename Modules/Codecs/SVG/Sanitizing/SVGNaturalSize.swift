#if SVG
    import AlcedoCore

    /// The size of a document in its own pixels, of which 96 are an inch.
    ///
    /// The attributes `width` and `height` of the root element give it. A percentage and a missing side follow from
    /// `viewBox`; without it, they are 300 × 150 pixels, as for replaced elements of CSS. Sources: SVG 2, section 8.2;
    /// CSS Images 3, section 5.3.
    struct SVGNaturalSize: Equatable {
        let width: Double
        let height: Double

        /// Reads the attributes of the root element.
        ///
        /// - Throws: `corrupt` when a side is not positive.
        init(
            width widthText: [UInt8]?, height heightText: [UInt8]?, viewBox: SVGViewBox?
        ) throws(ImageDecodingError) {
            func side(_ text: [UInt8]?) -> Double? {
                text.flatMap { SVGLength($0[...]) }.flatMap { $0.isPercentage ? nil : $0.value }
            }
            let box = viewBox.flatMap { $0.width > 0 && $0.height > 0 ? $0 : nil }
            switch (side(widthText), side(heightText)) {
            case (let width?, let height?): (self.width, self.height) = (width, height)
            case (let width?, nil): (self.width, height) = (width, box.map { width * $0.height / $0.width } ?? 150)
            case (nil, let height?): (width, self.height) = (box.map { height * $0.width / $0.height } ?? 300, height)
            case (nil, nil): (width, height) = (box?.width ?? 300, box?.height ?? 150)
            }
            guard width > 0, height > 0, width.isFinite, height.isFinite else {
                throw ImageDecodingError(.corrupt, "SVG: the size of \(width) x \(height) pixels is invalid")
            }
        }

        /// The size in whole pixels: rounded, each side at least 1 and at most 10⁹.
        var pixels: PixelSize {
            PixelSize(width: Int(min(max(1, width.rounded()), 1e9)), height: Int(min(max(1, height.rounded()), 1e9)))
        }
    }
#endif
