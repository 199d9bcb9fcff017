#if GTK
    import AlcedoGTK
    import Testing

    @Suite struct ScrollGlideTests {
        /// Returns the steps of frames of 16 ms.
        private func steps(_ glide: inout ScrollGlide, _ count: Int = 200) -> [Double] {
            var steps: [Double] = []
            while glide.isMoving, steps.count < count {
                steps.append(glide.step(at: .milliseconds(16 * (steps.count + 1))))
            }
            return steps
        }

        @Test(arguments: [80.0, -80, 1, 0.25, -1_000.5])
        func `a glide covers the whole distance, in whole points except the last`(way: Double) {
            var glide = ScrollGlide()
            glide.add(way)
            let steps = steps(&glide)

            #expect(steps.reduce(0, +) == way)
            #expect(steps.count < 40)
            #expect(steps.dropLast().allSatisfy { $0 == $0.rounded() && ($0 < 0) == (way < 0) })
        }

        @Test func `a glide is fastest at the start`() {
            var glide = ScrollGlide()
            glide.add(300)
            let steps = steps(&glide)

            #expect(steps == steps.sorted(by: >))
            #expect(steps[0] > 40)
        }

        @Test func `further scrolling in one direction accumulates, and the other direction takes effect at once`() {
            var glide = ScrollGlide()
            glide.add(80)
            glide.add(80)
            #expect(glide.rest == 160)

            glide.add(-80)
            #expect(glide.rest == -80)
        }

        @Test func `a late frame or a clock that goes back does not jump`() {
            var glide = ScrollGlide()
            glide.add(1_000)
            _ = glide.step(at: .seconds(1))
            let rest = glide.rest

            let late = glide.step(at: .seconds(100))
            #expect(late < rest * 0.7)
            let back = glide.step(at: .seconds(2))
            #expect(back == 1)
        }

        @Test func `a value that is not a number scrolls nothing`() {
            var glide = ScrollGlide()
            glide.add(.nan)
            glide.add(.infinity)

            #expect(!glide.isMoving)
        }
    }
#endif
