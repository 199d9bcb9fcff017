import Alcedo
import FoundationEssentials
import Testing

@testable import thumbnail_server

struct MetricsTests {
    @Test func `numbers are formatted for Prometheus`() {
        var text = PrometheusText()
        text.add("a_total", .counter, "An a.", 3)
        text.add("b", .gauge, "Bs.", label: "l", [("x\"\\\n", 1)])
        var histogram = LatencyHistogram()
        histogram.add(.milliseconds(1))
        histogram.add(.seconds(2))
        histogram.add(.seconds(3_600))
        text.add("d_seconds", "Times.", histogram)

        let lines = text.text.split(separator: "\n")
        #expect(lines.prefix(3) == ["# HELP a_total An a.", "# TYPE a_total counter", "a_total 3"])
        #expect(lines.contains("b{l=\"x\\\"\\\\\\n\"} 1"))
        #expect(lines.contains("d_seconds_bucket{le=\"0.001\"} 1"))
        #expect(lines.contains("d_seconds_bucket{le=\"2.5\"} 2"))
        #expect(lines.contains("d_seconds_bucket{le=\"30.0\"} 2"))
        #expect(lines.contains("d_seconds_bucket{le=\"+Inf\"} 3"))
        #expect(lines.contains("d_seconds_sum 3602.001"))
        #expect(lines.last == "d_seconds_count 3")
    }
}
