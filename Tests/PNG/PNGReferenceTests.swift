import AlcedoCore
import AlcedoPNG
import Foundation
import TestSupport
import Testing

/// The loop over the C library with which benchmarks compare the decoder. It must do the same work.
@Suite struct PNGReferenceTests {
    @Test(arguments: ["rgb.png", "rgba-interlaced.png", "palette4.png", "gray8.png"])
    func `every pixel of a valid file is decoded`(name: String) throws {
        let data = try fixture(name)
        let size = try PNGDecoder().inspect(data, limits: DecodingLimits()).size
        #expect(PNGReference.decode(data) == size.pixelCount)
    }

    @Test func `data that is not an image or ends in its header yields no pixels`() throws {
        #expect(PNGReference.decode(Data()) == 0)
        #expect(PNGReference.decode(Data("rubbish, of no format at all".utf8)) == 0)
        #expect(PNGReference.decode(try fixture("rgb.png").prefix(24)) == 0)
    }
}
