#if TIFF
    import Alcedo
    import AlcedoTIFF
    import Foundation
    import TestSupport
    import Testing

    /// Conversions of one page of a file with several.
    @Suite struct PageConversionTests {
        private static let file = Data.grayTIFF(pages: [(3, 10), (5, 20), (4, 30)])

        @Test func `a frame selects a page, which has a size of its own`() throws {
            for (page, width, level) in [(nil, 4, 30), (0, 3, 10), (1, 5, 20), (2, 4, 30)] as [(Int?, Int, UInt8)] {
                // Without a frame, the codec selects the page.
                var converter = ImageConverter(codecs: CodecRegistry.standard.adding(.tiff(page: 2)))
                converter.frame = page

                for tolerance in [DamageTolerance.wrongPixels, .missingPixels] {
                    converter.tolerance = tolerance
                    let image = try CodecRegistry.standard.decode(converter.convert(Self.file, to: .png()))

                    #expect(image.size == PixelSize(width: width, height: 2))
                    #expect(image.pixels.rgba(0, 1) == [level, level, level, 255])
                }
            }
        }

        @Test(arguments: [-1, 3])
        func `a page that the file does not have is an error`(page: Int) throws {
            let converter = ImageConverter(codecs: CodecRegistry.standard.adding(.tiff), frame: page)

            let error = #expect(throws: ImageDecodingError.self) { try converter.convert(Self.file, to: .png()) }

            #expect(error?.code == .unsupportedVariant)
            #expect(error?.message.contains("there is no page \(page): the file has 3") == true)
        }
    }
#endif
