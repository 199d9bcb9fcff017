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

    @Test func `different requests are admitted up to the limit, and again after some have left`() throws {
        let keys = try Self.keys
        let admission = Admission(limit: 2)
        let first = try #require(admission.acquire(keys[0], of: "a"))
        var others = [try #require(admission.acquire(keys[1], of: "b"))]
        #expect(admission.acquire(keys[2], of: "c") == nil)
        // Equal requests share a slot.
        others.append(try #require(admission.acquire(keys[0], of: "a")))
        #expect(admission.current == 3)
        first.release()
        first.release()
        #expect(admission.current == 2 && admission.acquire(keys[2], of: "c") == nil)
        others.removeAll()
        #expect(admission.current == 0 && admission.acquire(keys[2], of: "c") != nil)
    }

    @Test func `a host has at most half of the slots, and gets them back`() throws {
        let keys = try Self.keys
        let admission = Admission(limit: 3)
        let first = try #require(admission.acquire(keys[0], of: "a"))
        let again = try #require(admission.acquire(keys[0], of: "a"))
        let second = try #require(admission.acquire(keys[1], of: "a"))
        #expect(admission.acquire(keys[2], of: "a") == nil)
        #expect(admission.acquire(keys[2], of: "b") != nil)
        first.release()
        #expect(admission.acquire(keys[2], of: "a") == nil)
        again.release()
        let third = try #require(admission.acquire(keys[2], of: "a"))
        #expect(admission.acquire(keys[0], of: "a") == nil)
        second.release()
        third.release()
        #expect(admission.current == 0)
    }

    private static var keys: [ImageKey] {
        get throws {
            try ["a", "b", "c"].map { ImageKey(ResourceKey(try #require(URL(string: "https://\($0).test/")))) }
        }
    }
}
