"""Rules on sums of utilities over the list: what a whole list gives to each stakeholder, weighed in different ways.

| rule | maximises | how |
|---|---|---|
| ``utilitarian_slate`` | the weighted sum of expected rewards | exact |
| ``maximin_slate`` | the smallest normalised utility | greedy, then swaps |
| ``leximin_slate`` | the smallest, then the second smallest, … | greedy, then swaps |
| ``nash_slate`` | the product of normalised utilities | greedy, then swaps |

Normalised utilities are those that measures report, `accordant.slates.gains.Gains.attained`: 0 is the worst list of a
stakeholder, 1 its ideal one. Who finds all lists alike is left out.
"""
