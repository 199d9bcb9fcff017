#if HEIF
    import AlcedoCore

    /// The layout of color planes. The raw values are those of ITU-T H.265, table 6-1.
    enum ChromaLayout: Int {
        case monochrome = 0
        /// Color planes of half the width and half the height.
        case half
        /// Color planes of half the width.
        case halfWidth
        case full
    }

    /// The properties of HEVC pictures, which are known before a picture is decoded. Source: ITU-T H.265, section
    /// 7.3.2.2.
    struct SequenceParameterSet: Equatable {
        /// The size of the coded picture, which decoders allocate.
        let codedSize: PixelSize
        /// The size of the picture.
        let size: PixelSize
        let chroma: ChromaLayout
        let bitDepth: Int
        /// The color of the bitstream. A container may override it.
        let color: ColorCodePoints

        /// Reads a NAL unit with a sequence parameter set.
        ///
        /// - Throws: `corrupt`, and `unsupportedVariant` for depths other than 8 to 12 bits.
        init(_ unit: some Collection<UInt8>) throws(ImageDecodingError) {
            var bits = BitReader(unit)
            try bits.skip(4)
            let subLayerCount = try bits.bits(3)
            try bits.skip(1)
            try Self.skipLevels(&bits, subLayerCount)
            _ = try bits.golomb()
            guard let chroma = ChromaLayout(rawValue: try bits.golomb()) else { throw Self.damaged }
            let hasSeparatePlanes = chroma == .full ? try bits.flag() : false
            self.chroma = chroma
            let (width, height) = (try bits.golomb(atMost: 1 << 16), try bits.golomb(atMost: 1 << 16))
            codedSize = PixelSize(width: width, height: height)
            size = try Self.window(&bits, of: codedSize, chroma)
            bitDepth = try bits.golomb() + 8
            guard try bits.golomb() + 8 == bitDepth, bitDepth <= 12, !hasSeparatePlanes else {
                throw ImageDecodingError(.unsupportedVariant, "HEIF: the planes have unsupported depths")
            }
            let orderBits = try bits.golomb(atMost: 12) + 4
            let hasSubLayers = try bits.flag()
            try bits.skipGolomb(3 * (hasSubLayers ? subLayerCount + 1 : 1))
            let blockSide = 8 << (try bits.golomb(atMost: 3))
            guard width % blockSide == 0, height % blockSide == 0 else { throw Self.damaged }
            try bits.skipGolomb(5)
            if try bits.flag(), try bits.flag() { try Self.skipScalingLists(&bits) }
            try bits.skip(2)
            if try bits.flag() {
                try bits.skip(8)
                try bits.skipGolomb(2)
                try bits.skip(1)
            }
            try Self.skipReferencePictures(&bits, orderBits: orderBits)
            try bits.skip(2)
            color = try Self.color(&bits)
        }

        /// Skips the profile and the levels. Source: section 7.3.3.
        private static func skipLevels(
            _ bits: inout BitReader, _ subLayerCount: Int
        ) throws(ImageDecodingError) {
            try bits.skip(96)
            guard subLayerCount > 0 else { return }
            var lengths = 0
            for _ in 0..<subLayerCount { lengths += (try bits.flag() ? 88 : 0) + (try bits.flag() ? 8 : 0) }
            try bits.skip(2 * (8 - subLayerCount) + lengths)
        }

        /// Reads the conformance window, and returns the size inside.
        private static func window(
            _ bits: inout BitReader, of size: PixelSize, _ chroma: ChromaLayout
        ) throws(ImageDecodingError) -> PixelSize {
            var inside = size
            if try bits.flag() {
                let across = chroma == .half || chroma == .halfWidth ? 2 : 1
                let down = chroma == .half ? 2 : 1
                let horizontal = try bits.golomb() + bits.golomb()
                let vertical = try bits.golomb() + bits.golomb()
                inside.width -= across * horizontal
                inside.height -= down * vertical
            }
            guard inside.isPositive else { throw damaged }
            return inside
        }

        /// Skips the scaling lists. Source: section 7.3.4.
        private static func skipScalingLists(_ bits: inout BitReader) throws(ImageDecodingError) {
            for size in 0..<4 {
                for _ in stride(from: 0, to: 6, by: size == 3 ? 3 : 1) {
                    guard try bits.flag() else {
                        try bits.skipGolomb(1)
                        continue
                    }
                    try bits.skipGolomb((size > 1 ? 1 : 0) + min(64, 16 << (2 * size)))
                }
            }
        }

        /// Skips the sets of reference pictures. Source: section 7.3.7.
        private static func skipReferencePictures(
            _ bits: inout BitReader, orderBits: Int
        ) throws(ImageDecodingError) {
            var previous = 0
            for index in 0..<(try bits.golomb(atMost: 64)) {
                if index > 0, try bits.flag() {
                    try bits.skip(1)
                    try bits.skipGolomb(1)
                    var count = 0
                    for _ in 0...previous {
                        let isUsed = try bits.flag()
                        let isIncluded = isUsed ? true : try bits.flag()
                        count += isIncluded ? 1 : 0
                    }
                    previous = count
                } else {
                    previous = try bits.golomb(atMost: 16) + bits.golomb(atMost: 16)
                    for _ in 0..<previous {
                        try bits.skipGolomb(1)
                        try bits.skip(1)
                    }
                }
            }
            if try bits.flag() { try bits.skip((try bits.golomb(atMost: 32)) * (orderBits + 1)) }
        }

        /// Reads the color. Without one, the limited range applies. Source: section E.2.1.
        private static func color(_ bits: inout BitReader) throws(ImageDecodingError) -> ColorCodePoints {
            var color = ColorCodePoints(primaries: 2, transfer: 2, matrix: 2, isFullRange: false)
            guard try bits.flag() else { return color }
            if try bits.flag(), try bits.bits(8) == 255 { try bits.skip(32) }
            if try bits.flag() { try bits.skip(1) }
            guard try bits.flag() else { return color }
            try bits.skip(3)
            color.isFullRange = try bits.flag()
            if try bits.flag() {
                color.primaries = try bits.bits(8)
                color.transfer = try bits.bits(8)
                color.matrix = try bits.bits(8)
            }
            return color
        }

        private static var damaged: ImageDecodingError {
            ImageDecodingError(.corrupt, "HEIF: a sequence parameter set is damaged")
        }
    }
#endif
