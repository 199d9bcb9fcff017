import AlcedoCore
import AlcedoGIF
import Foundation
import TestSupport
import Testing

/// The loop over the C library with which benchmarks compare the decoder. It must do the same work.
@Suite struct GIFReferenceTests {
    @Test(arguments: ["plain.gif", "interlaced.gif", "transparent.gif"])
    func `every pixel of a valid file is decoded`(name: String) throws {
        let data = try fixture(name)
        let size = try GIFDecoder().inspect(data, limits: DecodingLimits()).size
        #expect(GIFReference.decode(data) == size.pixelCount)
    }

    @Test func `data that is not an image or ends in its header yields no pixels`() throws {
        #expect(GIFReference.decode(Data()) == 0)
        #expect(GIFReference.decode(Data("rubbish, of no format at all".utf8)) == 0)
        #expect(GIFReference.decode(try fixture("plain.gif").prefix(24)) == 0)
    }
}
