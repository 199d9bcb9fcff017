import Alcedo
#if AVIF
    import AlcedoAVIF
#endif
import AlcedoHTTP
#if JXL
    import AlcedoJXL
#endif
import AlcedoProgramSupport
import FoundationEssentials

/// The parameters of a thumbnail: source, size and format.
struct ThumbnailQuery: Sendable {
    static let path = "/thumbnail"
    private static let names: Set = [
        "url", "w", "h", "fit", "position", "format", "quality", URLSignature.name, URLSignature.expiry,
    ]

    let source: SourceURL
    /// The size in pixels. A side that is not specified is the maximum side.
    let size: PixelSize
    let fit: ThumbnailFit
    /// The part that ``ThumbnailFit/fill`` shows, or the place of the image that ``ThumbnailFit/contain`` shows.
    let position: ImageProcessors.Anchor
    let format: ThumbnailFormat
    let quality: Int
    /// Whether the format depends on the `Accept` field.
    let isNegotiated: Bool

    /// Creates a query from the items of a URL.
    ///
    /// - Parameters:
    ///   - items: The query items of the URL.
    ///   - accept: The value of the `Accept` field; nil without one.
    ///   - maximumSide: The maximum number of pixels of a side.
    ///   - negotiated: The formats among which `Accept` selects, in order of preference. Default:
    ///     ``ThumbnailFormat/negotiated``.
    ///   - maximumEncodingByteCount: The maximum number of bytes that an encoder may hold. A format whose encoder could
    ///     need more is not selected by `Accept`. Default: no limit.
    /// - Throws: ``HTTPError`` 400 if a parameter is unknown, missing or invalid.
    init(
        _ items: QueryItems, accept: String?, maximumSide: Int,
        negotiated: [ThumbnailFormat] = ThumbnailFormat.negotiated, maximumEncodingByteCount: Int = .max
    ) throws(HTTPError) {
        guard items.items.allSatisfy({ Self.names.contains($0.name) }) else {
            throw HTTPError(400, "unknown parameter; available: url, w, h, fit, position, format, quality")
        }
        guard let text = items["url"] else { throw HTTPError(400, "url is missing") }
        source = try SourceURL(text)
        let width = try Self.number("w", of: items, in: 1...maximumSide)
        let height = try Self.number("h", of: items, in: 1...maximumSide)
        guard let fit = ThumbnailFit(rawValue: items["fit"] ?? "fit") else {
            throw HTTPError(400, "fit must be fit, fill, exact or contain")
        }
        guard fit == .fit || (width != nil && height != nil) else {
            throw HTTPError(400, "fit=fill, fit=exact and fit=contain need w and h")
        }
        position = try Self.position(items["position"], fit)
        guard width != nil || height != nil else { throw HTTPError(400, "w or h is missing") }
        self.fit = fit
        let size = PixelSize(width: width ?? maximumSide, height: height ?? maximumSide)
        self.size = size
        let name = items["format"] ?? "auto"
        isNegotiated = name == "auto"
        if isNegotiated {
            let field = AcceptField(accept)
            let accepted = negotiated.first { candidate in
                field.accepts(candidate) && candidate.encodingByteCount(of: size) <= maximumEncodingByteCount
            }
            format = accepted ?? field.fallback
        } else if let named = ThumbnailFormat(name: name) {
            format = named
        } else {
            throw HTTPError(400, "format must be auto, \(ThumbnailFormat.names)")
        }
        let quality = try Self.number("quality", of: items, in: 1...100)
        self.quality = format.isLossy ? quality ?? format.defaultQuality : 0
    }

    private static func position(
        _ text: String?, _ fit: ThumbnailFit
    ) throws(HTTPError) -> ImageProcessors.Anchor {
        guard let text else { return .center }
        guard fit == .fill || fit == .contain else {
            throw HTTPError(400, "position needs fit=fill or fit=contain")
        }
        guard let position = PositionArgument.position(text) else {
            throw HTTPError(400, "position must be a name such as topLeft, smart, or two percentages such as 30,20")
        }
        guard position != .smart || fit == .fill else { throw HTTPError(400, "position=smart needs fit=fill") }
        return position
    }

    private static func number(
        _ name: String, of items: QueryItems, in range: ClosedRange<Int>
    ) throws(HTTPError) -> Int? {
        guard let text = items[name] else { return nil }
        // `Int` would accept a sign.
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text), range.contains(number)
        else {
            throw HTTPError(400, "\(name) must be an integer from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// The key of the thumbnail in caches. Queries with equal parameters have equal keys, whether or not the format is
    /// negotiated.
    var key: ImageKey {
        let centered = processors(at: .center).map(\.identifier)
        let positioned = processors(at: position).map(\.identifier)
        let place = positioned == centered ? "" : ";\(positioned.joined(separator: ";"))"
        return ImageKey(
            ResourceKey(source.url),
            variant: "thumbnail:5;\(size.width)x\(size.height);\(fit.rawValue);\(format.rawValue);\(quality)\(place)")
    }

    private func processors(at position: ImageProcessors.Anchor) -> [any ImageProcessing] {
        switch fit {
        case .fit: return [.resize(fitting: size)]
        case .fill where position == .smart:
            // The part is found in a reduced image. Only the part is enlarged.
            return [
                .resize(filling: size), .crop(aspect: size, at: .smart), .resize(exactly: size, enlarges: true),
            ]
        case .fill: return [.resize(covering: size, at: position, enlarges: true)]
        case .exact: return [.resize(exactly: size, enlarges: true)]
        case .contain: return [.resize(containedIn: size, at: position)]
        }
    }

    /// Returns the request for the image before it is encoded. No step creates an image that is larger than both the
    /// original and ``size``.
    ///
    /// - Parameters:
    ///   - limits: The limits of decoding.
    ///   - idleTimeout: The maximum time for which the origin may send nothing.
    ///   - maximumAge: The maximum age of a stored original that is used without revalidation. Fractions of a second
    ///     are ignored.
    func imageRequest(
        _ limits: DecodingLimits, tolerance: DamageTolerance = .wrongPixels, idleTimeout: Duration, maximumAge: Duration
    ) -> ImageRequest {
        let seconds = maximumAge.components.seconds
        // A cache may treat `max-age=0` as a reload, for which it does not revalidate an `immutable` response (RFC
        // 8246).
        let control = seconds > 0 ? "max-age=\(seconds)" : "no-cache"
        var request = ImageRequest(
            source: .http(HTTPRequest(url: source.url, fields: ["Cache-Control": control], idleTimeout: idleTimeout)))
        request.decoding.limits = limits
        request.decoding.tolerance = tolerance
        request.decoding.includesAnimation = false
        // A gray original stays gray. Others have colors or alpha, whatever is requested.
        request.decoding.pixelFormat = .gray8
        request.processors = processors(at: position)
        return request
    }
}

/// The way in which an image is fitted to the requested size.
enum ThumbnailFit: String, Sendable {
    /// Resizes the whole image to fit the size, without enlarging it.
    case fit
    /// Crops the image to the aspect ratio of the size, and resizes it to exactly the size. Small images are enlarged.
    case fill
    /// Resizes the image to exactly the size. Proportions change.
    case exact
    /// Resizes the whole image to fit the size, without enlarging it, and adds transparent margins.
    case contain
}

/// The format of a thumbnail. With ``plain``, the decoded image determines the format. AVIF is one in a build with the
/// package trait `AVIF`, and JPEG XL in one with `JXL`.
enum ThumbnailFormat: String, CaseIterable, Sendable {
    #if AVIF
        case avif
    #endif
    #if JXL
        case jxl
    #endif
    case webp, jpeg, png
    /// PNG for an image with alpha, otherwise JPEG.
    case plain

    /// The formats among which `Accept` selects by default, in order of preference: those of the enabled package
    /// traits, then WebP.
    static let negotiated: [Self] = Array(allCases.prefix { $0 != .webp }) + [.webp]
    /// The names of the formats, for messages.
    static let names =
        allCases.filter { $0 != .png && $0 != .plain }.map(\.rawValue).joined(separator: ", ") + " or png"

    /// Creates the format with a name. Returns nil if the name is unknown, and for ``plain``, which has no name.
    init?(name: String) {
        guard let format = Self(rawValue: name), format != .plain else { return nil }
        self = format
    }

    /// The media type that an `Accept` field names.
    var mediaType: String { "image/\(rawValue)" }

    /// Whether every client supports the format.
    var isUniversal: Bool { self == .jpeg || self == .png }

    /// Whether the quality may have an effect.
    var isLossy: Bool { self != .png }

    /// The quality of a thumbnail whose URL has none. The scale of AVIF differs from that of the others.
    var defaultQuality: Int {
        #if AVIF
            if self == .avif { return 60 }
        #endif
        return 80
    }

    /// Returns the encoder for an image.
    ///
    /// - Parameters:
    ///   - image: The image. Its alpha determines the format of ``plain``.
    ///   - quality: The quality, from 1 to 100.
    func encoder(for image: DecodedImage, quality: Int) -> any ImageEncoding {
        let jpeg = ImageEncoder.jpeg(quality: quality)
        return self == .plain && jpeg.canEncode(image) ? jpeg : encoder(quality: quality)
    }

    /// Returns the maximum number of bytes that the encoder of a thumbnail holds.
    func encodingByteCount(of size: PixelSize) -> Int {
        encoder(quality: defaultQuality).encodingByteCount(of: size, format: .rgba8)
    }

    /// Returns the encoder, which is that of PNG for ``plain``.
    private func encoder(quality: Int) -> ImageEncoder {
        switch self {
        #if AVIF
            // Clients wait for the thumbnail, so the speed is higher than the default.
            case .avif: return .avif(quality: Double(quality), speed: 8)
        #endif
        #if JXL
            case .jxl: return .jxl(quality: Double(quality), effort: 3)
        #endif
        case .webp: return .webp(quality: Double(quality))
        case .png, .plain: return .png()
        case .jpeg: return .jpeg(quality: quality)
        }
    }
}

/// The media types that a client accepts. Source: RFC 9110 section 12.5.1.
struct AcceptField {
    private let text: String?

    init(_ text: String?) { self.text = text }

    /// Whether the client accepts a format.
    ///
    /// The field must name the type with a weight above zero. Ranges such as `image/*` count only for a format that
    /// every client supports, because old browsers send them without supporting newer formats. A type takes precedence
    /// over `image/*`, and `image/*` over `*/*`. Without the field, the client accepts the formats that every client
    /// supports.
    func accepts(_ format: ThumbnailFormat) -> Bool {
        guard format.isUniversal else { return isAccepted(format.mediaType) ?? false }
        guard text != nil else { return true }
        return isAcceptedByAnyRange(format) ?? false
    }

    /// The format for a client that accepts none of the negotiated formats: the one of JPEG and PNG that the client
    /// prefers to the other. The image decides between formats that are equal to the client.
    var fallback: ThumbnailFormat {
        let (jpeg, png) = (rank(of: .jpeg), rank(of: .png))
        return jpeg == png ? .plain : jpeg > png ? .jpeg : .png
    }

    /// Returns 2 for a format that the field accepts, 0 for one that it excludes, and 1 for one that it does not
    /// mention.
    private func rank(of format: ThumbnailFormat) -> Int { isAcceptedByAnyRange(format).map { $0 ? 2 : 0 } ?? 1 }

    /// Returns whether the field accepts a format by its type or by a range, or nil if it does not mention the format.
    private func isAcceptedByAnyRange(_ format: ThumbnailFormat) -> Bool? {
        isAccepted(format.mediaType) ?? isAccepted("image/*") ?? isAccepted("*/*")
    }

    /// Returns whether a weight of a media range is above zero, or nil if the field does not contain the range.
    private func isAccepted(_ range: String) -> Bool? {
        guard let text else { return nil }
        let members = text.split(separator: ",").compactMap { member -> Bool? in
            let parts = member.split(separator: ";", omittingEmptySubsequences: false)
            guard let name = parts.first, Self.trimmed(name).lowercased() == range else { return nil }
            let weights = parts.dropFirst().map { Self.trimmed($0).lowercased() }.filter { $0.hasPrefix("q=") }
            // An invalid weight counts as zero, so the range is not treated as accepted.
            return weights.allSatisfy { Self.isPositive(weight: $0.dropFirst(2)) }
        }
        return members.isEmpty ? nil : members.contains(true)
    }

    /// Returns whether a weight is valid and above zero. Source: RFC 9110, section 12.4.2.
    private static func isPositive(weight: Substring) -> Bool {
        let parts = weight.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let fraction = parts.count > 1 ? parts[1] : ""
        guard fraction.count <= 3, fraction.allSatisfy({ $0.isASCII && $0.isNumber }) else { return false }
        let hasFraction = fraction.contains { $0 != "0" }
        return parts[0] == "0" && hasFraction || parts[0] == "1" && !hasFraction
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " || $0 == "\t" }
        guard let end = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return start[...end]
    }
}
