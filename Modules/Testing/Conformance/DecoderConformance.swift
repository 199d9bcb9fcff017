public import AlcedoCore
public import FoundationEssentials

/// The contract of ``/AlcedoCore/ImageDecoding``, tested on a valid file of the format.
///
/// The tests of a decoder run the kit once for each test file. A file must be valid, have at most 100,000 pixels, and
/// have no bytes after the image. Files of a few hundred bytes work best, because some checks decode every prefix of
/// the file:
///
/// ```swift
/// import AlcedoTesting
/// import Testing
///
/// @Test(arguments: DecoderConformance.checks)
/// func conforms(to check: DecoderConformance.Check) async throws {
///     try await check { _ in (MyDecoder(), file) }
/// }
/// ```
public enum DecoderConformance: ConformanceKit {
    private static let rounds = 1_000
    /// The pixel limit for decoding damaged files. A damaged header may declare an image that is much larger than that
    /// of the file.
    private static let damagedPixelLimit = 100_000

    /// All checks of the contract, for a parameterized test.
    public static let checks: [ConformanceCheck<(decoder: any ImageDecoding, file: Data)>] = [
        Check("decoding a file twice gives the same image") { make in
            let (checks, file) = try prepare(make)
            try checks.checkDeterminism(file)
        },
        Check("decoding text throws an error") { make in
            let code = try prepare(make).checks.errorCode(Data("no picture at all".utf8))
            try ConformanceFailure.require(code != nil, "text was decoded")
        },
        Check("every prefix of a file throws truncated, whole or in pieces") { make in
            let (checks, file) = try prepare(make)
            let codes = try checks.checkTruncation(file)
            try ConformanceFailure.require(codes.isSubset(of: DecoderChecks.early), "unexpected errors: \(codes)")
        },
        Check("inspecting a prefix gives the information of the file or an error") { make in
            let (checks, file) = try prepare(make)
            try checks.checkInspection(file)
        },
        Check("a file with flipped bits gives the same result whole and in pieces") { make in
            let (checks, file) = try prepare(make, pixelLimit: damagedPixelLimit)
            try checks.checkFlippedBits(file, rounds: rounds)
        },
        Check("a file with flipped bits gives an error or an image of the inspected size") { make in
            let (checks, file) = try prepare(make, pixelLimit: damagedPixelLimit)
            try checks.checkAnnouncedSizes(file, rounds: rounds)
        },
        Check("the decoded image does not depend on the chunks of the data") { make in
            let (checks, file) = try prepare(make)
            try checks.checkPieces(file, knowsInfoEarly: false)
        },
        Check("the decoded rows equal those of the image") { make in
            let (checks, file) = try prepare(make)
            try checks.checkRows(file)
        },
        Check("an opened image gives the same results in any order") { make in
            let (checks, file) = try prepare(make)
            try checks.checkReader(file)
        },
        Check("the limits of pixels and bytes are enforced") { make in
            let (checks, file) = try prepare(make)
            try checks.checkLimits(file)
        },
    ]

    /// Returns the checks for a decoder, and its file.
    private static func prepare(
        _ make: Check.Factory, pixelLimit: Int = .max
    ) throws -> (checks: DecoderChecks, file: Data) {
        let (decoder, file) = try make(ConformanceOptions())
        var options = DecodingOptions()
        options.limits.maximumPixelCount = min(pixelLimit, options.limits.maximumPixelCount)
        // The file may be a slice, and the checks need indices that begin at zero.
        return (DecoderChecks(decoder, options: options), Data(file))
    }
}
