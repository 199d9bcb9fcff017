import AlcedoCore
import AlcedoTesting
import TestSupport
import Testing

/// A kit that cannot fail proves nothing, so each of these converters has one fault.
@Suite(.timeLimit(.minutes(10)))
struct ColorConverterKitTests {
    enum Fault: CaseIterable {
        case convertsSRGB, acceptsAnything, changesItsMind, changesAlpha, exceedsAlpha

        /// The check that must fail.
        var broken: String {
            switch self {
            case .convertsSRGB: "rows without a profile need no conversion to sRGB"
            case .acceptsAnything: "bytes that are no profile are an error"
            case .changesItsMind: "a conversion gives equal rows on each call"
            case .changesAlpha: "alpha is not changed"
            case .exceedsAlpha: "premultiplied color never exceeds its alpha"
            }
        }
    }

    @Test(arguments: Fault.allCases)
    func `a converter with one fault fails exactly the check of that fault`(fault: Fault) async {
        let failed = await failures(of: ColorConverterConformance.checks) { _ in Converter(fault) }
        #expect(failed == [fault.broken])
    }

    @Test func `a converter without a fault fails no check`() async {
        #expect(await failures(of: ColorConverterConformance.checks) { _ in Converter(nil) }.isEmpty)
    }

    @Test func `every check can fail`() {
        #expect(Set(Fault.allCases.map(\.broken)) == Set(ColorConverterConformance.checks.map(\.description)))
    }

    /// Knows no profile, and changes nothing except by its fault.
    private struct Converter: ColorConverting {
        private let fault: Fault?
        private let calls = Watched(0)

        init(_ fault: Fault?) { self.fault = fault }

        func conversion(
            of header: PixelRowHeader, to space: OutputColorSpace
        ) throws(ColorConversionError) -> RowConversion? {
            if header.colorProfile != nil {
                guard fault == .acceptsAnything else { throw ColorConversionError(.invalidProfile, "unknown") }
                return { _ in }
            }
            let calls = calls.update { count in
                count += 1
                return count
            }
            switch fault {
            case .convertsSRGB where space == .sRGB: return { _ in }
            case .changesItsMind where header.format == .gray8 && space == .displayP3:
                return { $0[0] = UInt8(calls & 1) }
            case .changesAlpha where space == .displayP3 && header.format == .rgba8 && header.alphaMode == .straight:
                return { $0[3] ^= 1 }
            case .exceedsAlpha
            where header.format == .rgba8 && header.alphaMode == .premultiplied && space == .displayP3:
                return { row in
                    for pixel in stride(from: 0, to: row.count, by: 4) { row[pixel] = 255 }
                }
            default: return nil
            }
        }
    }
}
