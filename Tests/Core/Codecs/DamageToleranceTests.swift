import AlcedoCore
import FoundationEssentials
import Testing

@Suite struct DamageToleranceTests {
    private static let error = ImageDecodingError(.corrupt, "a bit is wrong")

    @Test func `each step allows the damage of the steps before it`() {
        #expect(DamageTolerance.allCases.sorted() == [.harmless, .wrongPixels, .missingPixels])
        for tolerance in DamageTolerance.allCases {
            let options = DecodingOptions(tolerance: tolerance)
            #expect(throws: Never.self) { try options.check(nil) }
            for kind in DamageTolerance.allCases where kind <= tolerance {
                #expect(throws: Never.self) { try options.check(ImageDamage(kind, Self.error)) }
            }
            for kind in DamageTolerance.allCases where kind > tolerance {
                #expect(throws: Self.error) { try options.check(ImageDamage(kind, Self.error)) }
            }
        }
    }

    @Test func `by default wrong pixels are tolerated and missing pixels are not`() {
        #expect(DecodingOptions().tolerance == .wrongPixels)
        #expect(!DecodingOptions().allowsPartial)
    }

    @Test func `partial images are allowed by the last step only`() {
        #expect(DecodingOptions(tolerance: .missingPixels).allowsPartial)
        #expect(DecodingOptions(tolerance: .harmless, allowsPartial: true).tolerance == .missingPixels)
        for (before, allowed, after) in [
            (DamageTolerance.harmless, true, DamageTolerance.missingPixels), (.missingPixels, false, .wrongPixels),
            (.harmless, false, .harmless), (.wrongPixels, false, .wrongPixels),
        ] {
            var options = DecodingOptions(tolerance: before)
            options.allowsPartial = allowed
            #expect(options.tolerance == after)
        }
    }

    @Test func `an image is partial if pixels are missing, and not for other damage`() throws {
        let pixels = try #require(
            PixelBuffer(size: PixelSize(width: 1, height: 1), format: .gray8, alphaMode: .opaque))
        for kind in DamageTolerance.allCases {
            var image = DecodedImage(pixels: pixels, damage: ImageDamage(kind, Self.error))
            #expect(image.partialError == (kind == .missingPixels ? Self.error : nil))
            #expect(image.weakReference?()?.damage == image.damage)
            image.partialError = nil
            #expect(image.damage?.kind == (kind == .missingPixels ? nil : kind))
            image.partialError = Self.error
            #expect(image.damage == ImageDamage(.missingPixels, Self.error))
        }
    }

    @Test func `the worst damage is the first one of the worst kind`() {
        let harmless = ImageDamage(.harmless, Self.error)
        let first = ImageDamage(.wrongPixels, Self.error)
        let second = ImageDamage(.wrongPixels, ImageDecodingError(.truncated, "the data ends"))

        #expect(ImageDamage.worst(nil, nil) == nil)
        #expect(ImageDamage.worst(harmless, nil) == harmless)
        #expect(ImageDamage.worst(nil, harmless) == harmless)
        #expect(ImageDamage.worst(harmless, second) == second)
        #expect(ImageDamage.worst(second, harmless) == second)
        #expect(ImageDamage.worst(first, second) == first)
    }
}
