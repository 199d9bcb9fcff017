import FoundationEssentials

/// The location of a photo, as its GPS tags state it.
///
/// ```swift
/// let info = try CodecRegistry.standard.inspect(data)
/// if let place = GPSCoordinates(info.metadata) { print(place.latitude, place.longitude) }
/// ```
///
/// A location is personal data. ``PhotoProperties/hasGPS`` tells whether there is one without reading it.
public struct GPSCoordinates: Sendable, Hashable {
    /// The latitude in degrees, from −90 to 90, positive in the north.
    public var latitude: Double
    /// The longitude in degrees, from −180 to 180, positive in the east.
    public var longitude: Double
    /// The altitude in meters above sea level, or nil if the file does not state it.
    public var altitude: Double?

    /// Creates coordinates. The default altitude is nil.
    public init(latitude: Double, longitude: Double, altitude: Double? = nil) {
        self.latitude = latitude
        self.longitude = longitude
        self.altitude = altitude
    }

    /// Reads the coordinates from EXIF, or from XMP if EXIF has none. Returns nil when both have no valid latitude and
    /// longitude, each with its direction. O(bytes).
    public init?(_ metadata: ImageMetadata) {
        let found =
            metadata.exif.flatMap(Self.init(exif:)) ?? metadata.xmp.flatMap(XMPProperties.init).flatMap(Self.init(xmp:))
        guard let found else { return nil }
        self = found
    }

    // Source: CIPA DC-008 (Exif 2.32), section 4.6.6.
    private init?(exif: Data) {
        let found = exif.withUnsafeBytes { memory -> Self? in
            guard let reader = EXIFReader(memory.bytes) else { return nil }
            func degrees(_ tag: Int, direction: Int) -> Double? {
                guard let direction = reader.text(direction, in: .gps)?.first,
                    let degrees = reader.number(tag, in: .gps)
                else { return nil }
                let parts = [degrees] + (1...2).map { reader.number(tag, in: .gps, at: $0) ?? 0 }
                return Self.degrees(parts, direction)
            }
            // 1 and 3 are altitudes below sea level and below the ellipsoid.
            let isBelow = [1, 3].contains(reader.integer(0x0005, in: .gps))
            return Self(
                degrees(0x0002, direction: 0x0001), degrees(0x0004, direction: 0x0003),
                reader.number(0x0006, in: .gps).map { isBelow ? -$0 : $0 })
        }
        guard let found else { return nil }
        self = found
    }

    // Source: XMP specification part 2, section 3.3, "GPSCoordinate".
    private init?(xmp: XMPProperties) {
        func degrees(_ name: String) -> Double? {
            guard let text = xmp.text(.exif(name)), let direction = text.last else { return nil }
            let parts = text.dropLast().split(separator: ",", maxSplits: 3).map { Double($0) }
            guard 1...3 ~= parts.count, !parts.contains(nil) else { return nil }
            return Self.degrees(parts.compactMap { $0 }, direction)
        }
        let isBelow = xmp.text(.exif("GPSAltitudeRef")) == "1"
        self.init(
            degrees("GPSLatitude"), degrees("GPSLongitude"),
            xmp.number(.exif("GPSAltitude")).map { isBelow ? -$0 : $0 })
    }

    private init?(_ latitude: Double?, _ longitude: Double?, _ altitude: Double?) {
        // The comparisons are false for NaN.
        guard let latitude, let longitude, abs(latitude) <= 90, abs(longitude) <= 180 else { return nil }
        self.init(latitude: latitude, longitude: longitude, altitude: altitude)
    }

    /// Returns the sum of degrees, minutes and seconds, negative in the south and the west.
    private static func degrees(_ parts: [Double], _ direction: Character) -> Double? {
        let sum = parts.reversed().reduce(0) { $0 / 60 + $1 }
        return switch direction {
        case "N", "n", "E", "e": sum
        case "S", "s", "W", "w": -sum
        default: nil
        }
    }
}
