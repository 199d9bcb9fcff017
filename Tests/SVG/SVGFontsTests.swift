#if SVG
    import AlcedoCore
    @testable import AlcedoSVG
    import AlcedoTesting
    import Foundation
    import TestSupport
    import Testing

    @Suite(.timeLimit(.minutes(5))) struct SVGFontsTests {
        @Test func `the paths of fonts are absolute and distinct`() {
            let paths = SVGFonts.load()

            #expect(paths == Set(paths).sorted())
            #expect(paths.allSatisfy { $0.hasPrefix("/") })
        }

        @Test func `every embedded image that is drawn before the confinement is valid`() throws {
            let images = try SVGFonts.documents.dropFirst().map { document in
                try SVGDecoder().decode(Data(document.utf8), options: DecodingOptions())
            }

            // The last one is an empty document.
            let colors: [[UInt8]] = [[0, 0, 255, 255], [128, 128, 128, 255], [255, 0, 0, 255], [0, 0, 0, 0]]
            #expect(images.map { $0.pixels.rgba(4, 4) } == colors)
        }
    }
#endif
