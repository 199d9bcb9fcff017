import Alcedo
import Foundation
import Testing

@testable import AlcedoTool

@Suite struct ProfileReportTests {
    @Test func `an ink profile in another format than JPEG is unusable`() throws {
        // The decoder of JPEG XL converts inks by a formula.
        let info = ImageInfo(
            format: ImageFormat(rawValue: "jxl"), size: PixelSize(width: 1, height: 1), colorModel: .cmyk,
            metadata: ImageMetadata(colorProfile: Data("profile".utf8)))
        let report = try #require(ProfileReport(info))
        #expect(report.use == .unusable)
        #expect(report.error == "color: inks of this format are converted by a formula")
    }
}
