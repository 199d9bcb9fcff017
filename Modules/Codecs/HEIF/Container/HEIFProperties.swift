#if HEIF
    import AlcedoBoxes
    import AlcedoCore

    /// The properties of an image. Sources: ISO/IEC 23008-12, section 6.5; ISO/IEC 14496-12, section 12.1.
    struct HEIFProperties {
        private(set) var size: PixelSize?
        /// The box `hvcC`.
        private(set) var configuration: Box?
        /// The crops, rotations and mirrorings, in the order in which they apply.
        private(set) var transforms: [HEIFTransform] = []
        private(set) var color: ColorCodePoints?
        private(set) var profile: Range<Int>?

        /// Creates properties without values.
        init() {}

        /// Reads the properties of an item.
        ///
        /// - Throws: `corrupt`, and `unsupportedVariant` for an unknown property that a reader must know.
        init(_ item: HEIFItems.Item, of items: HEIFItems) throws(ImageDecodingError) {
            for (index, isEssential) in item.properties {
                guard index <= items.properties.count else {
                    throw ImageDecodingError(.corrupt, "HEIF: an image has a property that is missing")
                }
                let isKnown = try read(items.properties[index - 1])
                guard isKnown || !isEssential else {
                    throw ImageDecodingError(.unsupportedVariant, "HEIF: an essential property is unknown")
                }
            }
        }

        /// Returns the name of the kind of an auxiliary image, or nil when it has none. Other properties, which may be
        /// unknown, are not read.
        static func auxiliaryType(of item: HEIFItems.Item, of items: HEIFItems) -> String? {
            for (index, _) in item.properties where index <= items.properties.count {
                let box = items.properties[index - 1]
                guard box.type == "auxC" else { continue }
                var reader = box.reader
                guard (try? reader.number(4)) != nil else { return nil }
                // The known names are shorter. Every item may have the same long name.
                var name = BoxReader(box.bytes, reader.rest.prefix(64))
                return name.text()
            }
            return nil
        }

        /// Reads a property. Returns false when it is unknown.
        mutating func read(_ box: Box) throws(ImageDecodingError) -> Bool {
            var reader = box.reader
            switch box.type {
            case "ispe":
                try reader.skip(4)
                size = PixelSize(width: try reader.number(4), height: try reader.number(4))
            case "hvcC": configuration = box
            case "irot": transforms.append(.rotation(quarterTurns: try reader.number(1) & 3))
            case "imir": transforms.append(.mirroring(axis: try reader.number(1) & 1))
            case "clap": transforms.append(.crop(try HEIFCrop(&reader)))
            case "colr": try readColor(&reader)
            case "auxC", "pixi", "pasp", "clli", "mdcv", "cclv", "amve": break
            default: return false
            }
            return true
        }

        private mutating func readColor(_ reader: inout BoxReader) throws(ImageDecodingError) {
            switch try reader.type() {
            case "nclx":
                let primaries = try reader.number(2)
                let transfer = try reader.number(2)
                let matrix = try reader.number(2)
                color = ColorCodePoints(
                    primaries: primaries, transfer: transfer, matrix: matrix,
                    isFullRange: try reader.number(1) >> 7 == 1)
            case "prof", "rICC": profile = reader.rest
            default: break
            }
        }
    }

    /// The code points that determine how planes are converted to RGB, and the color space of the result. Source: ITU-T
    /// H.273, section 8.
    struct ColorCodePoints: Equatable {
        var primaries: Int
        var transfer: Int
        var matrix: Int
        var isFullRange: Bool

        /// The color space of RGB of the full range, or nil for reserved code points.
        var description: ColorDescription? {
            guard let primaries = UInt8(exactly: primaries), let transfer = UInt8(exactly: transfer) else { return nil }
            return ColorDescription(primaries: primaries, transfer: transfer)
        }
    }

    /// A change of the image after it is decoded.
    enum HEIFTransform {
        case crop(HEIFCrop)
        /// The number of quarter turns counterclockwise.
        case rotation(quarterTurns: Int)
        /// 0 exchanges top and bottom, 1 exchanges left and right.
        case mirroring(axis: Int)
    }

    /// The visible area of an image: the property `clap`. Source: ISO/IEC 14496-12, section 12.1.4.
    struct HEIFCrop {
        private typealias Fraction = (numerator: Int, denominator: Int)
        private let width: Fraction
        private let height: Fraction
        private let horizontalOffset: Fraction
        private let verticalOffset: Fraction

        init(_ reader: inout BoxReader) throws(ImageDecodingError) {
            width = (try reader.number(4), try reader.number(4))
            height = (try reader.number(4), try reader.number(4))
            horizontalOffset = (try reader.signedNumber(), try reader.number(4))
            verticalOffset = (try reader.signedNumber(), try reader.number(4))
        }

        /// Returns the visible area, or nil when its size is not in whole pixels or it exceeds the image. Such a crop
        /// is ignored.
        func area(in size: PixelSize) -> PixelRect? {
            guard let (x, width) = Self.span(width, horizontalOffset, in: size.width),
                let (y, height) = Self.span(height, verticalOffset, in: size.height)
            else { return nil }
            return PixelRect(x: x, y: y, width: width, height: height)
        }

        /// The offset is that of the center of the visible area from the center of the image. A start between pixels is
        /// rounded down.
        private static func span(_ length: Fraction, _ offset: Fraction, in whole: Int) -> (start: Int, length: Int)? {
            guard length.denominator > 0, offset.denominator > 0, whole <= 1 << 30 else { return nil }
            let (visible, rest) = length.numerator.quotientAndRemainder(dividingBy: length.denominator)
            guard rest == 0, visible > 0, visible <= whole else { return nil }
            // The factors have at most 32 and 30 bits, so the products do not overflow.
            let doubled = 2 * offset.numerator + offset.denominator * (whole - visible)
            guard doubled >= 0 else { return nil }
            let start = doubled / (2 * offset.denominator)
            return start <= whole - visible ? (start, visible) : nil
        }
    }
#endif
