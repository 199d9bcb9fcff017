public import AlcedoCore
public import FoundationEssentials

/// The contract of ``/AlcedoCore/ImageDecoding``, tried on a valid file of the format.
///
/// A decoder joins the kit in one line for each of its files; small files, of a few hundred bytes, are best:
///
/// ```swift
/// @Test(arguments: DecoderConformance.checks)
/// func conforms(to check: DecoderConformance.Check) async throws {
///     try await check { _ in DecoderConformance.Subject(MyDecoder(), file: file) }
/// }
/// ```
public enum DecoderConformance {
    /// One rule of the contract.
    public typealias Check = ConformanceCheck<Subject, Options>

    /// The requirements of a check on its subject: none.
    public struct Options: Sendable {}

    /// A decoder and a valid file.
    public struct Subject: Sendable {
        let decoder: any ImageDecoding
        let file: Data
        let options: DecodingOptions

        /// - Parameters:
        ///   - decoder: The decoder to try.
        ///   - file: A valid file that it decodes, of at most 100,000 pixels.
        ///   - options: How to decode. Default: the defaults.
        public init(_ decoder: any ImageDecoding, file: Data, options: DecodingOptions = DecodingOptions()) {
            self.decoder = decoder
            // A slice begins at another index.
            self.file = Data(file)
            self.options = options
        }

        /// The rules; damage may enlarge an image up to `limit` pixels.
        func checks(limit: Int? = nil) -> DecoderChecks {
            var options = options
            if let limit { options.limits.maximumPixelCount = min(limit, options.limits.maximumPixelCount) }
            return DecoderChecks(decoder, options: options)
        }
    }

    private static let rounds = 1_000
    private static let largestDamaged = 100_000

    /// All rules, for a parameterised test.
    public static let checks: [Check] = [
        Check("a file is decoded, and twice to the same image") { make in
            let subject = try make(Options())
            try subject.checks().checkDeterminism(subject.file)
        },
        Check("text is an error") { make in
            let code = try make(Options()).checks().errorCode(Data("no picture at all".utf8))
            try ConformanceFailure.require(code != nil, "a text was decoded")
        },
        Check("every beginning of a file is truncated, however its bytes come") { make in
            let subject = try make(Options())
            let codes = try subject.checks().checkTruncation(subject.file)
            try ConformanceFailure.require(codes.isSubset(of: DecoderChecks.early), "other errors: \(codes)")
        },
        Check("inspecting a beginning of a file gives what the whole file gives, or an error") { make in
            let subject = try make(Options())
            try subject.checks().checkInspection(subject.file)
        },
        Check("flipped bits give the same error or image however the bytes come") { make in
            let subject = try make(Options())
            try subject.checks(limit: largestDamaged).checkFlippedBits(subject.file, rounds: rounds)
        },
        Check("flipped bits give an error or an image of the announced size") { make in
            let subject = try make(Options())
            try subject.checks(limit: largestDamaged).checkAnnouncedSizes(subject.file, rounds: rounds)
        },
        Check("an image does not depend on the pieces its bytes come in") { make in
            let subject = try make(Options())
            try subject.checks().checkPieces(subject.file, knowsInfoEarly: false)
        },
        Check("rows are those of the image") { make in
            let subject = try make(Options())
            try subject.checks().checkRows(subject.file)
        },
        Check("limits of pixels and bytes are kept") { make in
            let subject = try make(Options())
            try subject.checks().checkLimits(subject.file)
        },
    ]
}
