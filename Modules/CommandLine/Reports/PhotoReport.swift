import Alcedo
import FoundationEssentials

/// The properties of a photo, for a report.
struct PhotoReport: Sendable, Encodable {
    private let photo: PhotoProperties
    /// The location, if it was requested.
    private let location: GPSCoordinates?

    /// Creates a report. Returns nil when the metadata has no property of a photo.
    init?(_ metadata: ImageMetadata, readsLocation: Bool) {
        photo = PhotoProperties(metadata)
        location = readsLocation ? GPSCoordinates(metadata) : nil
        guard photo != PhotoProperties() || location != nil else { return nil }
    }

    private enum CodingKeys: String, CodingKey {
        case make, model, lensMake, lensModel, exposureTime, fNumber, isoSpeed, focalLength, focalLengthIn35mmFilm
        case exposureBias, flashFired, dateTimeOriginal, dateTimeDigitized, dateTimeModified, orientation, artists
        case copyright, title, description, hasGPS, latitude, longitude, altitude
    }

    /// Encodes every key, with null for unknown values. Only the coordinates are omitted if they are unknown.
    func encode(to encoder: any Encoder) throws {
        var keys = encoder.container(keyedBy: CodingKeys.self)
        try keys.encode(photo.make, forKey: .make)
        try keys.encode(photo.model, forKey: .model)
        try keys.encode(photo.lensMake, forKey: .lensMake)
        try keys.encode(photo.lensModel, forKey: .lensModel)
        try keys.encode(photo.exposureTime, forKey: .exposureTime)
        try keys.encode(photo.fNumber, forKey: .fNumber)
        try keys.encode(photo.isoSpeed, forKey: .isoSpeed)
        try keys.encode(photo.focalLength, forKey: .focalLength)
        try keys.encode(photo.focalLengthIn35mmFilm, forKey: .focalLengthIn35mmFilm)
        try keys.encode(photo.exposureBias, forKey: .exposureBias)
        try keys.encode(photo.flashFired, forKey: .flashFired)
        try keys.encode(photo.dateTimeOriginal?.description, forKey: .dateTimeOriginal)
        try keys.encode(photo.dateTimeDigitized?.description, forKey: .dateTimeDigitized)
        try keys.encode(photo.dateTimeModified?.description, forKey: .dateTimeModified)
        try keys.encode(photo.orientation?.rawValue, forKey: .orientation)
        try keys.encode(photo.artists, forKey: .artists)
        try keys.encode(photo.copyright, forKey: .copyright)
        try keys.encode(photo.title, forKey: .title)
        try keys.encode(photo.description, forKey: .description)
        try keys.encode(photo.hasGPS, forKey: .hasGPS)
        try keys.encodeIfPresent(location?.latitude, forKey: .latitude)
        try keys.encodeIfPresent(location?.longitude, forKey: .longitude)
        try keys.encodeIfPresent(location?.altitude, forKey: .altitude)
    }

    /// The report as lines of text.
    var lines: [String] {
        var lines: [String] = []
        func add(_ name: String, _ parts: [String?], separator: String = ", ") {
            let text = parts.compactMap { $0 }.joined(separator: separator)
            // A text of several lines becomes one line.
            let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
            if !line.isEmpty { lines.append("\(name): \(line)") }
        }
        // Many models begin with the name of the maker.
        let isMakerKnown = photo.model.map { $0.hasPrefix(photo.make ?? "") } ?? false
        add("camera", [isMakerKnown ? nil : photo.make, photo.model], separator: " ")
        add("lens", [photo.lensModel ?? photo.lensMake])
        add(
            "exposure",
            [
                photo.exposureTime.map(Self.seconds), photo.fNumber.map { "f/\(Self.rounded($0))" },
                photo.isoSpeed.map { "ISO \($0)" }, photo.focalLength.map { "\(Self.rounded($0)) mm" },
                photo.exposureBias.flatMap { $0 == 0 ? nil : "\($0 > 0 ? "+" : "")\(Self.rounded($0)) EV" },
                photo.flashFired == true ? "flash" : nil,
            ])
        add("taken", [photo.dateTimeOriginal?.description])
        add("title", [photo.title])
        add("description", [photo.description])
        add("artist", photo.artists)
        add("copyright", [photo.copyright])
        if let location {
            let altitude = location.altitude.map { ", \(Self.rounded($0)) m" } ?? ""
            // Six decimals of a degree are a decimeter.
            let degrees = [location.latitude, location.longitude].map { "\(($0 * 1e6).rounded() / 1e6)" }
            lines.append("location: \(degrees.joined(separator: ", "))\(altitude)")
        } else if photo.hasGPS {
            lines.append("location: present")
        }
        return lines
    }

    /// Returns an exposure time as cameras show it.
    private static func seconds(_ time: Double) -> String {
        let reciprocal = (1 / time).rounded()
        return time < 0.3 && reciprocal < 1e9 ? "1/\(Int(reciprocal)) s" : "\(rounded(time)) s"
    }

    /// Returns a number with at most one decimal.
    private static func rounded(_ number: Double) -> String {
        let tenths = (number * 10).rounded() / 10
        return tenths == tenths.rounded() && abs(tenths) < 1e9 ? "\(Int(tenths))" : "\(tenths)"
    }
}
