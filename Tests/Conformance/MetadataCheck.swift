import Alcedo
#if AVIF
    import AlcedoAVIF
#endif
import AlcedoCore
#if JXL
    import AlcedoJXL
#endif
import FoundationEssentials

/// Converts files with metadata by each policy, and looks for metadata and locations that the policy removes.
struct MetadataCheck {
    private static let targets: [ImageEncoder] = {
        var targets: [ImageEncoder] = [.jpeg(), .png(), .webp()]
        #if AVIF
            targets.append(.avif(speed: 10))
        #endif
        #if JXL
            targets.append(.jxl(effort: 1))
        #endif
        targets.append(.gif())
        return targets
    }()
    private static let policies: [MetadataPolicy] = [.strip, .keepCopyright, .keepWithoutLocation, .keep]
    /// The start of the segment in which a JPEG has IPTC.
    private static let resources = Array("Photoshop 3.0\0".utf8)
    /// The names of properties of XMP that hold a location.
    private static let places = ["GPS", ":City", ":Country", ":State", ":Location"].map { Array($0.utf8) }
    /// The maximum number of bytes of EXIF in a JPEG.
    private static let exifLimit = 65_527

    /// Returns a list of problems. It is empty for files without metadata, and for bad files that cannot be converted.
    func problems(_ file: Manifest.File, _ data: Data) -> [String] {
        do {
            let metadata = try CodecRegistry.conformance.inspect(data).metadata
            let hasResources = [UInt8](data).holds(Self.resources)
            guard metadata.exif != nil || metadata.xmp != nil || metadata.iptc != nil || hasResources else { return [] }
            let source = Directories(metadata.exif)
            var problems: [String] = []
            for target in Self.targets {
                for policy in Self.policies {
                    let converter = ImageConverter(codecs: .conformance, metadata: policy)
                    let result = try converter.convert(data, to: target, fitting: PixelSize(width: 32, height: 32))
                    problems += try Self.problems(result, policy, source).map { problem in
                        "\(target.format.rawValue) with the policy \(policy): \(problem)"
                    }
                }
            }
            return problems
        } catch {
            return file.expect == nil ? ["metadata: \(error)"] : []
        }
    }

    private static func problems(
        _ result: Data, _ policy: MetadataPolicy, _ source: Directories
    ) throws -> [String] {
        let info = try CodecRegistry.conformance.inspect(result)
        let metadata = info.metadata
        let kept = Directories(metadata.exif)
        var problems: [String] = []
        if policy == .strip {
            if metadata.exif != nil { problems.append("EXIF remains") }
            if metadata.xmp != nil { problems.append("XMP remains") }
            if metadata.iptc != nil || [UInt8](result).holds(resources) { problems.append("IPTC remains") }
        } else if policy != .keep {
            for place in places where metadata.xmp.map({ [UInt8]($0).holds(place) }) == true {
                problems.append("XMP with \(String(decoding: place, as: UTF8.self)) remains")
            }
        }
        if policy == .keep {
            // Shows that the check finds a location. GIF holds no EXIF.
            if info.format != .gif, source.location != nil, kept.location == nil, source.bytes.count <= exifLimit {
                problems.append("the location is lost")
            }
            if kept.hasPreview { problems.append("the preview image remains") }
        } else {
            if kept.location != nil { problems.append("the directory of the location remains") }
            if source.positions.contains(where: kept.bytes.holds) { problems.append("a position remains") }
        }
        return problems
    }
}

/// The directories of EXIF data, read independently of the package. Source: TIFF 6.0, section 2; CIPA DC-008 (Exif
/// 2.32), section 4.6.6.
private struct Directories {
    let bytes: [UInt8]

    init(_ exif: Data?) { bytes = exif.map { [UInt8]($0) } ?? [] }

    /// The offset of the directory of the location, or nil if the first directory has none.
    var location: Int? {
        entries(at: number(at: 4, byteCount: 4)).first { number(at: $0, byteCount: 2) == 0x8825 }
            .map { number(at: $0 + 8, byteCount: 4) }
    }

    /// Whether another directory, that of the preview image, follows the first one.
    var hasPreview: Bool {
        guard bytes.starts(with: "II*\0".utf8) || bytes.starts(with: "MM\0*".utf8) else { return false }
        let first = number(at: 4, byteCount: 4)
        let link = first + 2 + 12 * number(at: first, byteCount: 2)
        return link + 4 <= bytes.count && number(at: link, byteCount: 4) != 0
    }

    /// The latitude, the longitude and the time: degrees, minutes and seconds in 24 bytes each.
    var positions: [[UInt8]] {
        guard let location else { return [] }
        let triples = entries(at: location).filter { entry in
            number(at: entry + 2, byteCount: 2) == 5 && number(at: entry + 4, byteCount: 4) == 3
        }
        return triples.map { entry in
            Array(bytes.dropFirst(number(at: entry + 8, byteCount: 4)).prefix(24))
        }
        .filter { $0.count == 24 && $0.max() != 0 }
    }

    /// Returns the offsets of the entries of a directory.
    private func entries(at directory: Int) -> [Int] {
        (0..<number(at: directory, byteCount: 2)).map { directory + 2 + 12 * $0 }
    }

    /// Returns the number at an offset. Bytes that are missing at the end are left out.
    private func number(at offset: Int, byteCount: Int) -> Int {
        let part = Array(bytes.dropFirst(offset).prefix(byteCount))
        let isLittleEndian = bytes.first == UInt8(ascii: "I")
        return (isLittleEndian ? part.reversed() : part).reduce(0) { $0 << 8 | Int($1) }
    }
}

extension [UInt8] {
    /// Whether the bytes of `part` are among these bytes, one after another.
    fileprivate func holds(_ part: [UInt8]) -> Bool {
        indices.contains { self[$0] == part.first && self[$0...].starts(with: part) }
    }
}
