import AlcedoCore
import AlcedoJPEG
import Foundation
import TestSupport
import Testing

/// The loop over the C library with which benchmarks compare the decoder. It must do the same work.
@Suite struct JPEGReferenceTests {
    @Test(arguments: ["420.jpg", "progressive.jpg", "rgb.jpg", "large.jpg"])
    func `every pixel of a valid file is decoded`(name: String) throws {
        let data = try fixture(name)
        let size = try JPEGDecoder().inspect(data, limits: DecodingLimits()).size
        #expect(JPEGReference.decode(data) == size.pixelCount)
    }

    @Test func `data that is not an image or ends in its header yields no pixels`() throws {
        #expect(JPEGReference.decode(Data()) == 0)
        #expect(JPEGReference.decode(Data("rubbish, of no format at all".utf8)) == 0)
        #expect(JPEGReference.decode(try fixture("420.jpg").prefix(24)) == 0)
    }
}
