/// The resolution of an image for print: the number of pixels per inch in each direction.
///
/// ```swift
/// let metadata = ImageMetadata(resolution: ImageResolution(pixelsPerInch: 300))
/// let data = try ImageEncoder.jpeg().embedding(metadata).encode(image)
/// ```
///
/// JPEG stores whole numbers up to 65,535, PNG whole numbers of pixels per meter, and EXIF fractions.
public struct ImageResolution: Sendable, Hashable {
    /// The number of pixels per inch along a row.
    public var horizontal: Double
    /// The number of pixels per inch along a column.
    public var vertical: Double

    /// Creates a resolution. Encoders omit a resolution that is not positive or beyond what the format stores.
    public init(horizontal: Double, vertical: Double) {
        self.horizontal = horizontal
        self.vertical = vertical
    }

    /// Creates a resolution that is equal in both directions.
    public init(pixelsPerInch: Double) { self.init(horizontal: pixelsPerInch, vertical: pixelsPerInch) }

    /// The number of inches in a centimeter and in a meter.
    package static let (inchesPerCentimeter, inchesPerMeter) = (1 / 2.54, 1 / 0.0254)

    /// The resolution after rows and columns were exchanged.
    package var transposed: Self { Self(horizontal: vertical, vertical: horizontal) }

    /// Whether both numbers are positive and finite.
    package var isValid: Bool { horizontal > 0 && vertical > 0 && horizontal.isFinite && vertical.isFinite }

    /// Whether a file with this resolution keeps `original`, as far as formats store fractions.
    package func keeps(_ original: Self) -> Bool {
        abs(horizontal - original.horizontal) <= 0.5 && abs(vertical - original.vertical) <= 0.5
    }

    /// Returns both numbers in another unit, rounded to the nearest whole number, or nil unless both are from 1 to
    /// `maximum`.
    ///
    /// - Parameters:
    ///   - unit: The number of inches in the unit.
    ///   - maximum: The largest number that the format stores.
    package func rounded(per unit: Double, maximum: Int) -> (horizontal: Int, vertical: Int)? {
        let values = [horizontal, vertical].map { ($0 * unit).rounded() }
        guard values.allSatisfy({ $0 >= 1 && $0 <= Double(maximum) }) else { return nil }
        return (Int(values[0]), Int(values[1]))
    }
}

extension ImageResolution {
    /// The tags of the resolution in the directory of the image. Source: CIPA DC-008 (Exif 2.32), section 4.6.4.
    static let (horizontalTag, verticalTag, unitTag) = (0x011A, 0x011B, 0x0128)

    /// Creates a resolution from EXIF data. Returns nil when the data is damaged, or has no positive resolution in
    /// pixels per inch or centimeter.
    package init?(exif tiff: RawSpan) {
        guard let bigEndian = TIFF.isBigEndian(tiff),
            let image = TIFF.number(in: tiff, at: 4, bytes: 4, bigEndian: bigEndian),
            let horizontal = TIFF.rational(Self.horizontalTag, of: image, in: tiff, bigEndian: bigEndian)
        else { return nil }
        let vertical = TIFF.rational(Self.verticalTag, of: image, in: tiff, bigEndian: bigEndian) ?? horizontal
        // The default unit is the inch.
        let unit = TIFF.integer(Self.unitTag, of: image, in: tiff, bigEndian: bigEndian) ?? 2
        let scale = unit == 2 ? 1 : unit == 3 ? 1 / Self.inchesPerCentimeter : 0
        self.init(horizontal: horizontal * scale, vertical: vertical * scale)
        guard isValid else { return nil }
    }

    /// The tags that store this resolution in EXIF, or an empty array if the resolution is not valid.
    var exifEntries: [TIFF.NewEntry] {
        func rational(_ tag: Int, _ value: Double) -> TIFF.NewEntry? {
            let denominator = value == value.rounded() || value >= 1_000_000 ? 1 : 1000
            let numerator = (value * Double(denominator)).rounded()
            guard value > 0, numerator >= 1, numerator <= Double(UInt32.max) else { return nil }
            return .rational(tag, Int(numerator), denominator)
        }
        guard let x = rational(Self.horizontalTag, horizontal), let y = rational(Self.verticalTag, vertical) else {
            return []
        }
        return [x, y, .short(Self.unitTag, 2)]
    }
}
